import { afterAll, afterEach, beforeAll } from "bun:test";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page, Route } from "playwright-core";
import { readDescription } from "../../../../apps/portal/page/reference/description.ts";
import { admitted } from "../../../support/gateway/admitted.ts";
import { chooseName, untilAsked } from "../../../support/pages/sign-in-pages.ts";
import { launchBrowser, PAGE_TIMEOUT_MS } from "../../../support/pages/swagger-page.ts";
import { type WatchedPage, watchPage } from "../../../support/pages/watched-page.ts";
import type { RunningProcess } from "../../../support/processes/start-process.ts";
import { freshDatabase } from "../../../support/stores/services.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { startPlatform, startScreen } from "../platform/bed.ts";

export interface OpenOptions extends BrowserContextOptions {
  /** The path to open. Default: `/portal`. */
  path?: string;
}

export interface PortalBed {
  readonly gatewayUrl: string;
  readonly providerUrl: string;
  /** The URL of the platform's database. */
  readonly databaseUrl: string;
  readonly platform: RunningProcess;
  readonly browser: Browser;
  /** Opens the portal without signing in. */
  visit(options?: OpenOptions): Promise<WatchedPage>;
  /** Opens the portal and signs in as the person `name` at the toy identity provider. */
  open(name: string, options?: OpenOptions): Promise<WatchedPage>;
  /** Calls the gateway with a token of the person `name`, without the page. */
  call(name: string, method: string, path: string, body?: unknown): Promise<Response>;
  /** Creates an organization with the name `title` as the person `name`. Returns the organization's id. */
  organization(name: string, title: string): Promise<string>;
  /** Returns the id of an operation in the edge description, URL-encoded as in the portal's URLs. */
  operationId(method: string, path: string): Promise<string>;
  /** Calls the gateway with a session of the person `name` in an organization, without the page. */
  callAsMember(
    name: string,
    organization_id: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Response>;
}

/**
 * Starts the platform, with its portal and its toy identity provider, and a browser for all tests of a file.
 * Closes the pages of a test after the test.
 */
export function usePortal(env: Record<string, string> = {}): PortalBed {
  let running:
    | Pick<PortalBed, "platform" | "browser" | "databaseUrl" | "gatewayUrl" | "providerUrl">
    | undefined;
  const opened: Page[] = [];
  const bed = () => {
    if (running === undefined) throw new Error("The platform runs only while tests run.");
    return running;
  };
  beforeAll(async () => {
    const folder = temporaryFolder("portal");
    const store: Record<string, string> =
      "DATABASE_URL" in env ? {} : { DATABASE_URL: await freshDatabase() };
    const [browser, platform] = await Promise.all([
      launchBrowser(),
      startPlatform({ DATA_DIR: join(folder, "data"), ...store, ...withoutEmpty(env) }),
    ]);
    running = {
      browser,
      platform,
      databaseUrl: store.DATABASE_URL ?? "",
      ...(await placesOf(platform)),
    };
  }, PAGE_TIMEOUT_MS);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((page) => page.context().close()));
  });
  afterAll(async () => {
    await Promise.all([running?.browser.close(), running?.platform.stop()]);
  });

  const tokenOf = async (name: string) =>
    (await fetch(`${bed().providerUrl}/token?subject=${encodeURIComponent(name)}`)).text();
  const send = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
    admitted(() =>
      fetch(`${bed().gatewayUrl}${path}`, {
        method,
        headers: { ...headers, ...(body !== undefined && { "Content-Type": "application/json" }) },
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
    );
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
    const shown = watchPage(page, [bed().gatewayUrl, bed().providerUrl]);
    await page.goto(`${bed().gatewayUrl}${path}`);
    return shown;
  };
  return {
    get gatewayUrl() {
      return bed().gatewayUrl;
    },
    get providerUrl() {
      return bed().providerUrl;
    },
    get databaseUrl() {
      return bed().databaseUrl;
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
      // Until the registry has read the description of the service, the operation has another id and no summary.
      const found = await waitFor(
        async () => {
          const description = readDescription(await (await call("ada", "GET", "/edge/openapi.json")).text());
          const operation = description?.operations.find(
            (each) => each.method === method && each.path === path,
          );
          return operation?.summary === `${method} ${path}` ? null : operation;
        },
        { what: `the description of ${method} ${path}` },
      );
      return encodeURIComponent(found.id);
    },
    async callAsMember(name, organization_id, method, path, body) {
      const answer = await call(name, "POST", `/user/organizations/${organization_id}/session`, {});
      return send(method, path, { "X-API-Key": textOf(await answer.json(), "token") }, body);
    },
  };
}

/** Presses the portal's sign-in button and waits for the page of the toy identity provider. */
export async function goToProvider(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^(Sign in|Anmelden)$/ }).click();
  await untilAsked(page);
}

/** Signs in as the person `name`, starting at the portal's sign-in page. */
export async function signIn(page: Page, name: string): Promise<void> {
  await goToProvider(page);
  await chooseName(page, name);
  await page.getByRole("navigation", { name: "Portal" }).waitFor();
}

/** Returns the gateway's 401 response to a request of the page. */
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

/** Reads the URLs of the gateway and the toy identity provider from the platform's start screen. */
async function placesOf(platform: RunningProcess): Promise<{ gatewayUrl: string; providerUrl: string }> {
  const places = await startScreen(platform);
  const place = (name: string) => /https?:\/\/[^\s/]+/.exec(places[name] ?? "")?.[0] ?? "";
  return { gatewayUrl: place("gateway"), providerUrl: place("identity provider") };
}

function withoutEmpty(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}

export function idOf(value: unknown): string {
  return textOf(value, "id");
}

export function textOf(value: unknown, name: string): string {
  const text: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  if (typeof text !== "string") throw new Error(`The response has no ${name}: ${JSON.stringify(value)}`);
  return text;
}
