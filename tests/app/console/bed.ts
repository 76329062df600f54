import { afterAll, afterEach, beforeAll } from "bun:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { type ConsolePage, openConsole } from "../../support/console-page.ts";
import { launchBrowser, PAGE_TIMEOUT_MS } from "../../support/swagger-page.ts";
import { ADMIN_TOKEN, type Registry, startRegistry } from "../registry/harness.ts";

/** A service of which every part of the console has something to show. */
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

/** Tests put entries of their own into the route store, which the full comparison would take away after a minute. */
const NO_COMPARISON = { RECONCILE_FULL_INTERVAL_MS: "86400000" };

export interface Bed {
  readonly registry: Registry;
  readonly browser: Browser;
  /** Opens the console with the token given. */
  open(options?: BrowserContextOptions & { fragment?: string }): Promise<ConsolePage>;
}

/** A browser and a registry with `services`, for all tests of a file; what a test opens is closed with it. */
export function useConsole(services: Record<string, unknown>, env: Record<string, string> = {}): Bed {
  let running: { registry: Registry; browser: Browser } | undefined;
  const opened: ConsolePage[] = [];
  const bed = () => {
    if (running === undefined) throw new Error("The bed stands while tests run.");
    return running;
  };
  beforeAll(async () => {
    const [browser, registry] = await Promise.all([
      launchBrowser(),
      startRegistry({ env: { ...NO_COMPARISON, ...env } }),
    ]);
    running = { browser, registry };
    if (Object.keys(services).length > 0) await registry.apply(services);
  }, PAGE_TIMEOUT_MS);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((page) => page.close()));
  });
  afterAll(async () => {
    await Promise.all([running?.browser.close(), running?.registry.stop()]);
  });
  return {
    get registry() {
      return bed().registry;
    },
    get browser() {
      return bed().browser;
    },
    async open(options) {
      const { browser, registry } = bed();
      const shown = await openConsole(browser, registry.url, options);
      opened.push(shown);
      await shown.enter(ADMIN_TOKEN);
      await shown.page.getByRole("navigation", { name: "Console" }).waitFor();
      return shown;
    },
  };
}
