/** Draws the console's pictures in `.github/pictures`. Run it with `bun tests/pictures/console.ts`. */

import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { startRegistry, tokenOf } from "../app/registry/bed.ts";
import { entry, OperatorsFile } from "../app/registry/operators.ts";
import { openConsole } from "../support/pages/console-page.ts";
import { launchBrowser } from "../support/pages/swagger-page.ts";
import { ROOT } from "../support/root.ts";

const SIZE = { width: 1280, height: 860 };
const OPERATOR = "ada";

const ORDERS = {
  url: "http://orders:8080",
  user: {
    routes: [
      { path: "/me/orders", methods: ["GET"], upstream: "/users/{subject.user_id}/orders" },
      {
        path: "/me/orders/{order_id}",
        methods: ["GET"],
        upstream: "/users/{subject.user_id}/orders/{path.order_id}",
        audit: true,
      },
    ],
  },
  organization: {
    routes: [
      { path: "/org/orders", methods: ["GET"], required_labels: ["orders:read", "orders:write"] },
      { path: "/org/orders", methods: ["POST"], required_labels: ["orders:write"] },
      { path: "/org/orders/{order_id}", methods: ["DELETE"], required_labels: ["orders:write"] },
      {
        path: "/org/orders/{order_id}/refund",
        methods: ["POST"],
        required_labels: ["billing"],
        rate_limit: { requests: 10, window_seconds: 60 },
      },
    ],
  },
};
const PROFILES = {
  url: "http://profiles:8080",
  user: {
    routes: [
      { path: "/me", methods: ["GET", "PATCH"], upstream: "/users/{subject.user_id}", audit: true },
      { path: "/me/avatar", methods: ["PUT", "DELETE"], upstream: "/users/{subject.user_id}/avatar" },
    ],
  },
};
const SEARCH = {
  url: "http://search:8080",
  public: {
    routes: [{ path: "/search", methods: ["GET"], rate_limit: { requests: 30, window_seconds: 10 } }],
  },
};
const CHANGED_SEARCH = {
  url: "http://search:9090",
  public: { routes: [{ path: "/search", methods: ["GET", "POST"] }] },
};

async function draw(): Promise<void> {
  const file = new OperatorsFile();
  await file.write(
    entry(OPERATOR, "publisher", { services: ["*"], paths: ["/"], urls: ["http://search:*"] }),
  );
  const registry = await startRegistry({
    databaseUrl: "pglite://memory",
    env: { OPERATORS_FILE: file.path },
  });
  const browser = await launchBrowser();
  try {
    await registry.apply({ orders: ORDERS, profiles: PROFILES, search: SEARCH });
    await take(browser, registry.url, "light", "#/routes", async (page) => {
      await page.getByRole("table", { name: "Routes" }).waitFor();
    });
    await take(browser, registry.url, "dark", "#/apply", confirmation);
  } finally {
    await browser.close();
    await registry.stop();
  }
}

async function confirmation(page: Page): Promise<void> {
  const document = JSON.stringify({ services: { search: CHANGED_SEARCH } }, null, 2);
  await page.getByRole("textbox", { name: /^Configuration document/ }).fill(document);
  await page.getByRole("button", { name: "Review the changes" }).click();
  await page.getByRole("button", { name: "Apply …" }).click();
  await page
    .getByRole("dialog")
    .getByRole("textbox", { name: "Reason" })
    .fill("Search moves to its new hosts");
  await page.getByRole("dialog").getByRole("textbox", { name: "Link" }).fill("https://tickets.example.com/7");
}

async function take(
  browser: Browser,
  url: string,
  colorScheme: "light" | "dark",
  fragment: string,
  show: (page: Page) => Promise<void>,
): Promise<void> {
  const shown = await openConsole(browser, url, { viewport: SIZE, colorScheme, locale: "en-GB", fragment });
  await shown.enter(tokenOf(OPERATOR));
  await show(shown.page);
  await shown.page.screenshot({ path: join(ROOT, `.github/pictures/console-${colorScheme}.png`) });
  await shown.close();
}

if (import.meta.main) await draw();
