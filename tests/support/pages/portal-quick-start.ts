/** Starts the quick start on free ports, for pictures and benchmarks of its portal. */
import { join } from "node:path";
import { isRecord } from "@ostiary/lib/domain/json";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { readUntil } from "../documents/guide-reader.ts";
import { ROOT } from "../root.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const FREE_PORTS = Object.fromEntries(
  ["GATEWAY", "REGISTRY", "IDENTITY", "AUDIT", "PORTAL"]
    .flatMap((part) => [`${part}_PORT`, `${part}_INTERNAL_PORT`])
    .concat("DEMO_PORT", "DEMO_IDENTITY_PROVIDER_PORT")
    .map((name) => [name, "0"]),
);

export interface PortalQuickStart extends AsyncDisposable {
  /** The URL of the portal behind the gateway. */
  readonly portalUrl: string;
  /** Creates an organization of alice. Returns its id and a function that calls the gateway as its owner. */
  organization(name: string): Promise<{
    id: string;
    send(method: string, path: string, body: unknown): Promise<Response>;
  }>;
  /** Opens the portal in a new browser context and signs in as alice. */
  open(browser: Browser, options?: BrowserContextOptions): Promise<Page>;
}

export async function startPortalQuickStart(env: Record<string, string> = {}): Promise<PortalQuickStart> {
  const directory = temporaryFolder("portal");
  const platform = Bun.spawn([process.execPath, "apps/platform/main.ts"], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: directory,
      DATA_DIR: join(directory, "data"),
      ...FREE_PORTS,
      ...env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const screen = await readUntil(platform.stdout, "Ctrl-C");
  const portalUrl = /customer portal +(\S+)/.exec(screen)?.[1] ?? "";
  const providerUrl = /identity provider +(http:\/\/[^/]+)/.exec(screen)?.[1] ?? "";
  const send = (method: string, path: string, headers: Record<string, string>, body: unknown) =>
    fetch(new URL(path, portalUrl), { method, headers, body: JSON.stringify(body) });
  return {
    portalUrl,
    async organization(name) {
      const token = await (await fetch(`${providerUrl}/token?subject=alice`)).text();
      const person = { Authorization: `Bearer ${token}` };
      const id = await textOf(await send("POST", "/user/organizations", person, { name }), "id");
      const session = await send("POST", `/user/organizations/${id}/session`, person, {});
      const member = { "X-API-Key": await textOf(session, "token") };
      return { id, send: (method, path, body) => send(method, path, member, body) };
    },
    async open(browser, options) {
      const page = await browser.newPage({ locale: "en-GB", reducedMotion: "reduce", ...options });
      await page.goto(portalUrl);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("button", { name: "alice" }).click();
      await page.getByRole("navigation", { name: "Portal" }).waitFor();
      return page;
    },
    async [Symbol.asyncDispose]() {
      platform.kill();
      await platform.exited;
    },
  };
}

async function textOf(answer: Response, name: string): Promise<string> {
  const value: unknown = await answer.json();
  const text = isRecord(value) ? value[name] : undefined;
  if (typeof text !== "string") throw new Error(`The response ${answer.status} has no ${name}.`);
  return text;
}
