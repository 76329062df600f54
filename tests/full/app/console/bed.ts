import { afterAll, afterEach, beforeAll } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { ADMIN_TOKEN, type Registry, startRegistry } from "../../../app/registry/bed.ts";
import { type ConsolePage, openConsole } from "../../../support/pages/console-page.ts";
import { PAGE_TIMEOUT_MS, sharedBrowser } from "../../../support/pages/swagger-page.ts";

/** A service with content for every view of the console. */
export const WIDGETS = {
  url: "http://widgets:8080",
  rate_limits: { burst: { requests: 600, window_seconds: 60 } },
  public: { routes: [{ path: "/catalog", methods: ["GET"], rate_limit: "burst" }] },
  organization: {
    routes: [
      {
        path: "/org/widgets/{widget_id}",
        upstream: "/organizations/{subject.organization_id}/widgets/{path.widget_id}",
        methods: ["GET"],
      },
      { path: "/org/widgets", methods: ["POST"], required_labels: ["widgets:write"] },
    ],
  },
  member: { routes: [{ path: "/me/widgets", methods: ["GET"], audit: true }] },
};

export const area = (page: Page) => page.getByRole("textbox", { name: /^Configuration document/ });
export const dialog = (page: Page) => page.getByRole("dialog");

/** Reviews a document: its text, or its services. */
export async function review(page: Page, document: string | object): Promise<void> {
  const isText = typeof document === "string";
  await area(page).fill(isText ? document : JSON.stringify({ services: document }));
  await page.getByRole("button", { name: "Review the changes" }).click();
}

/** Turns off the full comparison of the route store, which would remove entries of tests after a minute. */
const NO_COMPARISON = { RECONCILE_FULL_INTERVAL_MS: "86400000" };

export interface Bed {
  readonly registry: Registry;
  visit(options?: BrowserContextOptions & { fragment?: string }): Promise<ConsolePage>;
  /** Opens the console and signs in with a token, by default the admin token. */
  open(options?: BrowserContextOptions & { fragment?: string; token?: string }): Promise<ConsolePage>;
}

/** Starts a registry with `services` for a file. Closes the pages that a test opens after the test. */
export function useConsole(
  services: Record<string, unknown>,
  env: Record<string, string> | (() => Promise<Record<string, string>>) = {},
): Bed {
  let running: { registry: Registry; browser: Browser } | undefined;
  const opened: ConsolePage[] = [];
  const bed = () => {
    if (running === undefined) throw new Error("The registry runs only during tests and hooks.");
    return running;
  };
  beforeAll(async () => {
    const given = typeof env === "function" ? await env() : env;
    const [browser, registry] = await Promise.all([
      sharedBrowser(),
      startRegistry({ env: { ...NO_COMPARISON, ...given } }),
    ]);
    running = { browser, registry };
    if (Object.keys(services).length > 0) await registry.apply(services);
  }, PAGE_TIMEOUT_MS);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((page) => page.close()));
  });
  afterAll(async () => {
    await running?.registry.stop();
  });
  const visit: Bed["visit"] = async (options) => {
    const { browser, registry } = bed();
    const shown = await openConsole(browser, registry.url, options);
    opened.push(shown);
    return shown;
  };
  return {
    get registry() {
      return bed().registry;
    },
    visit,
    async open({ token = ADMIN_TOKEN, ...options } = {}) {
      const shown = await visit(options);
      await shown.enter(token);
      await shown.page.getByRole("navigation", { name: "Console" }).waitFor();
      return shown;
    },
  };
}
