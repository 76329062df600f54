/**
 * Makes `.github/pictures/portal-light.png` and `portal-dark.png` from a quick start that runs now:
 * `bun tests/pictures/portal.ts`. They show a customer's verified audit log.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRecord } from "@ostiary/lib/domain/json";
import type { Browser } from "playwright-core";
import { readUntil } from "../support/reader.ts";
import { launchBrowser } from "../support/swagger-page.ts";

const ROOT = join(import.meta.dir, "../..");
const SIZE = { width: 1280, height: 860 };
/** The number of changes in the log that the pictures show. */
const CHANGES = 12;
const PORTS = ["GATEWAY", "REGISTRY", "IDENTITY", "AUDIT", "PORTAL"].flatMap((part) => [
  `${part}_PORT`,
  `${part}_INTERNAL_PORT`,
]);

async function draw(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "ostiary-portal-picture-"));
  const free = [...PORTS, "DEMO_PORT", "DEMO_IDENTITY_PROVIDER_PORT"].map((name) => [name, "0"]);
  const platform = Bun.spawn([process.execPath, "apps/platform/main.ts"], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: directory,
      DATA_DIR: join(directory, "data"),
      ...Object.fromEntries(free),
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const browser = await launchBrowser();
  try {
    const screen = await readUntil(platform.stdout, "Ctrl-C");
    const portal = /customer portal +(\S+)/.exec(screen)?.[1] ?? "";
    const provider = /identity provider +(http:\/\/[^/]+)/.exec(screen)?.[1] ?? "";
    const organization_id = await organizationWithChanges(new URL(portal).origin, provider);
    for (const scheme of ["light", "dark"] as const) await take(browser, portal, organization_id, scheme);
  } finally {
    await browser.close();
    platform.kill();
    await platform.exited;
    await rm(directory, { recursive: true, force: true });
  }
}

/** Creates an organization of alice with audited changes. */
async function organizationWithChanges(gateway: string, provider: string): Promise<string> {
  const token = await (await fetch(`${provider}/token?subject=alice`)).text();
  const person = { Authorization: `Bearer ${token}` };
  const send = async (method: string, path: string, headers: Record<string, string>, body: unknown) => {
    const answer: unknown = await (
      await fetch(`${gateway}${path}`, { method, headers, body: JSON.stringify(body) })
    ).json();
    return isRecord(answer) ? answer : {};
  };
  const created = await send("POST", "/user/organizations", person, { name: "Example Ltd" });
  const organization_id = String(created.id);
  const session = await send("POST", `/user/organizations/${organization_id}/session`, person, {});
  const member = { "X-API-Key": String(session.token) };
  for (let each = 0; each < CHANGES; each += 1) await send("PATCH", "/org", member, { name: "Example Ltd" });
  return organization_id;
}

async function take(
  browser: Browser,
  portal: string,
  organization_id: string,
  scheme: "light" | "dark",
): Promise<void> {
  const page = await browser.newPage({
    viewport: SIZE,
    colorScheme: scheme,
    locale: "en-GB",
    reducedMotion: "reduce",
  });
  await page.goto(portal);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "alice" }).click();
  await page.getByRole("navigation", { name: "Portal" }).waitFor();
  await page.goto(`${portal}#/org/${organization_id}/audit/verify`);
  await page.getByRole("button", { name: "Verify now" }).click();
  await page.getByRole("button", { name: /^Save checkpoint/ }).waitFor();
  await page.screenshot({ path: join(ROOT, `.github/pictures/portal-${scheme}.png`) });
  await page.close();
}

if (import.meta.main) await draw();
