import { afterAll, afterEach, beforeAll } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page, Route } from "playwright-core";
import { readDescription } from "../../../apps/portal/page/reference/description.ts";
import { freshDatabase } from "../../support/services.ts";
import { chooseName, untilAsked } from "../../support/sign-in-pages.ts";
import type { RunningProcess } from "../../support/start-process.ts";
import { launchBrowser, PAGE_TIMEOUT_MS } from "../../support/swagger-page.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type WatchedPage, watchPage } from "../../support/watched-page.ts";
import { startPlatform } from "../platform/bed.ts";

export interface OpenOptions extends BrowserContextOptions {
  /** The path of the page, `/portal` by default. */
  path?: string;
}

export interface PortalBed {
  readonly gateway_url: string;
  readonly provider_url: string;
  /** The database of the platform. */
  readonly database_url: string;
  readonly platform: RunningProcess;
  readonly browser: Browser;
  /** Opens the portal without signing in. */
  visit(options?: OpenOptions): Promise<WatchedPage>;
  /** Opens the portal and signs in with this name at the toy provider. */
  open(name: string, options?: OpenOptions): Promise<WatchedPage>;
  /** Calls the gateway as the person of this name, beside the page. */
  call(name: string, method: string, path: string, body?: unknown): Promise<Response>;
  /** Creates an organization of the person, and returns its id. */
  organization(name: string, title: string): Promise<string>;
  /** Returns the id of an operation in the edge description, as addresses spell it. */
  operationId(method: string, path: string): Promise<string>;
  /** Calls the gateway as the member that the person is in the organization. */
  callAsMember(
    name: string,
    organization_id: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Response>;
}

/**
 * Starts the whole platform as a process, with its portal and toy provider, and a browser, for all tests of a
 * file. Whatever a test opens is closed with it.
 */
export function usePortal(env: Record<string, string> = {}): PortalBed {
  let running:
    | (Pick<PortalBed, "platform" | "browser" | "database_url" | "gateway_url" | "provider_url"> & {
        folder: string;
      })
    | undefined;
  const opened: Page[] = [];
  const bed = () => {
    if (running === undefined) throw new Error("The bed stands while tests run.");
    return running;
  };
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "ostiary-portal-"));
    const store: Record<string, string> =
      "DATABASE_URL" in env ? {} : { DATABASE_URL: await freshDatabase() };
    const [browser, platform] = await Promise.all([
      launchBrowser(),
      startPlatform({ DATA_DIR: join(folder, "data"), ...store, ...withoutEmpty(env) }),
    ]);
    running = {
      folder,
      browser,
      platform,
      database_url: store.DATABASE_URL ?? "",
      ...(await placesOf(platform)),
    };
  }, PAGE_TIMEOUT_MS);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((page) => page.context().close()));
  });
  afterAll(async () => {
    await Promise.all([running?.browser.close(), running?.platform.stop()]);
    if (running !== undefined) await rm(running.folder, { recursive: true, force: true });
  });

  const tokenOf = async (name: string) =>
    (await fetch(`${bed().provider_url}/token?subject=${encodeURIComponent(name)}`)).text();
  const send = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
    fetch(`${bed().gateway_url}${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  const call = async (name: string, method: string, path: string, body?: unknown) =>
    send(method, path, { Authorization: `Bearer ${await tokenOf(name)}` }, body);
  const visit = async ({ path = "/portal", ...options }: OpenOptions = {}) => {
    const context = await bed().browser.newContext({
      viewport: { width: 1280, height: 900 },
      reducedMotion: "reduce",
      locale: "en-GB",
      ...options,
    });
    context.setDefaultTimeout(PAGE_TIMEOUT_MS / 4);
    const page = await context.newPage();
    opened.push(page);
    const shown = watchPage(page, [bed().gateway_url, bed().provider_url]);
    await page.goto(`${bed().gateway_url}${path}`);
    return shown;
  };
  return {
    get gateway_url() {
      return bed().gateway_url;
    },
    get provider_url() {
      return bed().provider_url;
    },
    get database_url() {
      return bed().database_url;
    },
    get platform() {
      return bed().platform;
    },
    get browser() {
      return bed().browser;
    },
    visit,
    async open(name, options) {
      const shown = await visit(options);
      await signIn(shown.page, name);
      return shown;
    },
    call,
    async organization(name, title) {
      const answer = await call(name, "POST", "/user/organizations", { name: title });
      return idOf(await answer.json());
    },
    async operationId(method, path) {
      const description = readDescription(await (await call("ada", "GET", "/edge/openapi.json")).text());
      const found = description?.operations.find((each) => each.method === method && each.path === path);
      return encodeURIComponent(found?.id ?? "");
    },
    async callAsMember(name, organization_id, method, path, body) {
      const answer = await call(name, "POST", `/user/organizations/${organization_id}/session`, {});
      return send(method, path, { "X-API-Key": textOf(await answer.json(), "token") }, body);
    },
  };
}

/** Follows the portal's button to the toy provider. */
export async function goToProvider(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^(Sign in|Anmelden)$/ }).click();
  await untilAsked(page);
}

/** Signs in at the toy provider, starting at the portal's sign-in. */
export async function signIn(page: Page, name: string): Promise<void> {
  await goToProvider(page);
  await chooseName(page, name);
  await page.getByRole("navigation", { name: "Portal" }).waitFor();
}

/** Answers a request with a 401 of the gateway. */
export function refuse(route: Route): Promise<void> {
  const error = {
    type: "invalid_request_error",
    code: "UNAUTHORIZED",
    message: "Authentication required.",
    request_id: "1",
    details: null,
  };
  return route.fulfill({ status: 401, headers: { "X-Request-ID": "1" }, json: { error } });
}

/** Reads the addresses from the start screen. */
async function placesOf(platform: RunningProcess): Promise<{ gateway_url: string; provider_url: string }> {
  await waitFor(() => platform.stdout.some((line) => line.startsWith("Ctrl-C")), {
    timeout_ms: PAGE_TIMEOUT_MS,
  });
  const place = (name: string) => {
    const line = platform.stdout.find((each) => each.startsWith(`  ${name} `));
    return /https?:\/\/[^\s/]+/.exec(line ?? "")?.[0] ?? "";
  };
  return { gateway_url: place("gateway"), provider_url: place("identity provider") };
}

function withoutEmpty(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}

export function idOf(value: unknown): string {
  return textOf(value, "id");
}

export function textOf(value: unknown, name: string): string {
  const text: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  if (typeof text !== "string") throw new Error(`The answer has no ${name}: ${JSON.stringify(value)}`);
  return text;
}
