import { afterEach, beforeAll } from "bun:test";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page, Request, Route } from "playwright-core";
import { readDescription } from "../../../../apps/portal/page/reference/description.ts";
import { admitted } from "../../../support/gateway/admitted.ts";
import { chooseName, untilAsked } from "../../../support/pages/sign-in-pages.ts";
import { PAGE_TIMEOUT_MS, sharedBrowser } from "../../../support/pages/swagger-page.ts";
import { watchPage } from "../../../support/pages/watched-page.ts";
import type { RunningProcess } from "../../../support/processes/start-process.ts";
import { freshDatabase } from "../../../support/stores/services.ts";
import { lastingFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { startPlatform, startScreen } from "../platform/bed.ts";

interface OpenOptions extends BrowserContextOptions {
  /** The path to open. Default: `/portal`. */
  path?: string;
}

interface SharedPlatform {
  browser: Browser;
  gatewayUrl: string;
  providerUrl: string;
}

let shared: Promise<SharedPlatform> | undefined;

/** Starts the platform that the portal's test files of this process share. It ends with the process. */
async function startShared(): Promise<SharedPlatform> {
  const databaseUrl = await freshDatabase();
  const [browser, platform] = await Promise.all([
    sharedBrowser(),
    startPlatform({
      DATA_DIR: join(lastingFolder("portal"), "data"),
      RATE_LIMIT_REQUESTS: "100000",
      // On a busy machine, a validation takes longer than the default.
      VALIDATE_TIMEOUT_MS: "30000",
      ...(databaseUrl.startsWith("postgres") && { DATABASE_URL: databaseUrl }),
    }),
  ]);
  return { browser, ...(await placesOf(platform)) };
}

/**
 * Provides the shared platform with its portal and toy identity provider, and a browser. Each test uses its own
 * people or organizations. Closes the pages of a test after the test.
 */
export function usePortal() {
  let running: SharedPlatform | undefined;
  const opened: Page[] = [];
  const bed = () => {
    if (running === undefined) throw new Error("The platform runs only while tests run.");
    return running;
  };
  beforeAll(async () => {
    shared ??= startShared();
    running = await shared;
  }, PAGE_TIMEOUT_MS);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((page) => page.context().close()));
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
  async function callAsMember(
    name: string,
    organization_id: string,
    method: string,
    path: string,
    body?: unknown,
  ) {
    const response = await call(name, "POST", `/user/organizations/${organization_id}/session`, {});
    return send(method, path, { "X-API-Key": textOf(await response.json(), "token") }, body);
  }
  const visit = async ({ path = "/portal", ...options }: OpenOptions = {}) => {
    const context = await bed().browser.newContext({
      viewport: { width: 1280, height: 900 },
      reducedMotion: "reduce",
      locale: "en-GB",
      ...options,
    });
    context.setDefaultTimeout(PAGE_TIMEOUT_MS / 2);
    const page = await context.newPage();
    opened.push(page);
    const shown = await watchPage(page, [bed().gatewayUrl, bed().providerUrl]);
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
    /** Opens the portal without signing in. */
    visit,
    /** Opens the portal and signs in as the person `name` at the toy identity provider. */
    async open(name: string, options?: OpenOptions) {
      const shown = await visit(options);
      await signIn(shown.page, name);
      return shown;
    },
    /** Calls the gateway with a token of the person `name`, without the page. */
    call,
    /** Calls the gateway with a session of the person `name` in an organization, without the page. */
    callAsMember,
    /** Creates an organization with the name `title` as the person `name`. Returns the organization's id. */
    async organization(name: string, title: string) {
      const response = await call(name, "POST", "/user/organizations", { name: title });
      return idOf(await response.json());
    },
    /** Lets the person `name` join an organization of the person `by`. Returns the id of the new member. */
    async joined(by: string, organization_id: string, name: string, role = "member") {
      const invite = await callAsMember(by, organization_id, "POST", "/org/invites", { role });
      const token = textOf(await invite.json(), "token");
      const response = await call(name, "POST", "/user/invites/redeem", { token });
      if (response.status !== 201) throw new Error(`The invitation failed: ${await response.text()}`);
      return idOf(await response.json());
    },
    /** Returns the id of an operation in the edge description, URL-encoded as in the portal's URLs. */
    async operationId(method: string, path: string) {
      // Until the registry has read the description of the service, the operation has another id and no summary.
      const found = await waitFor(
        async () => {
          const description = readDescription(await (await call("ada", "GET", "/edge/openapi.json")).json());
          const operation = description?.operations.find(
            (each) => each.method === method && each.path === path,
          );
          return operation?.summary === `${method} ${path}` ? null : operation;
        },
        { what: `the description of ${method} ${path}` },
      );
      return encodeURIComponent(found.id);
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
  await page.locator("header nav").first().waitFor({ state: "attached" });
}

/** Returns a list that collects the requests of a page whose path contains `path` from now on. */
export function requestsOf(page: Page, method: string, path: string): Request[] {
  const seen: Request[] = [];
  page.on("request", (request) => {
    if (request.method() === method && new URL(request.url()).pathname.includes(path)) seen.push(request);
  });
  return seen;
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

export function idOf(value: unknown): string {
  return textOf(value, "id");
}

export function textOf(value: unknown, name: string): string {
  const text: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  if (typeof text !== "string") throw new Error(`The response has no ${name}: ${JSON.stringify(value)}`);
  return text;
}
