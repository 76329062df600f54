/** Tests of the portal's page for usage, quotas and limits, in a browser. */
import { describe, expect, test } from "bun:test";
import type { OrganizationQuota } from "@ostiary/lib/contracts/usage-contract";
import { Value } from "@sinclair/typebox/value";
import type { Page } from "playwright-core";
import { MonthUsage } from "../../../../apps/portal/page/usage/usage-shapes.ts";
import { browserPath, PAGE_TIMEOUT_MS } from "../../../support/pages/swagger-page.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { textOf, usePortal } from "./bed.ts";

const NOW = new Date();
const TODAY = `${NOW.toISOString().slice(0, "2026-11-23".length)}T00:00:00.000Z`;
const HOSTILE = `<img src=x onerror="window.ran=1">`;

describe.skipIf(browserPath === undefined)("the portal's usage page", () => {
  const bed = usePortal();

  function quota(changes: Partial<OrganizationQuota>): OrganizationQuota {
    return {
      policy: "monthly",
      service: "widgets",
      method: null,
      route: null,
      period: "month",
      from: TODAY,
      to: "2030-01-01T00:00:00.000Z",
      requests: 1_000,
      charged: 250,
      ...changes,
    };
  }

  function part(id: string, changes: object) {
    const none = { refused_limit: 0, refused_labels: 0, refused_other: 0, duration_ms: 1 };
    const sums = { requests: 1_234, refused: 30, failed: 4, bytes_in: 10, bytes_out: 20_480 };
    return { id, from: TODAY, to: TODAY, ...none, ...sums, ...changes };
  }

  /**
   * Responds to the page's requests for usage. Returns a list to which each request's parameters are
   * appended.
   */
  async function respondingWith(
    page: Page,
    quotas: readonly OrganizationQuota[],
    { gaps = [], member_id = "" }: { gaps?: object[]; member_id?: string } = {},
  ) {
    const asked: string[] = [];
    await page.route("**/org/usage?*", async (route) => {
      const { searchParams } = new URL(route.request().url());
      const by = searchParams.get("by") ?? "";
      const all = searchParams.get("include_platform") === "true";
      asked.push(`${by} ${searchParams.get("from")}${all ? " all" : ""}`);
      const after = searchParams.get("starting_after");
      const parts: Record<string, object[]> = {
        day: [part(TODAY, {})],
        service: [part("widgets", { service: HOSTILE })],
        route: [part(after === null ? "one" : "two", { method: "GET", route: `/${after ?? "first"}` })],
        key: [
          part("m1 ", { member_id, key_prefix: null }),
          part("m2 k", { member_id: "01JZ0000000000000000000000", key_prefix: "ostiary-k" }),
        ],
      };
      const has_more = by === "route" && after === null;
      await route.fulfill({ json: { usage: parts[by] ?? [], has_more, gaps, quotas } });
    });
    return asked;
  }

  // PT-34
  test("shows the requests of the organization by day and by route", async () => {
    const id = await bed.organization("ada", "Used");
    for (let n = 0; n < 3; n++) await bed.callAsMember("ada", id, "GET", "/demo/burst");
    const session = await bed.call("ada", "POST", `/user/organizations/${id}/session`, {});
    const headers = { "X-API-Key": textOf(await session.json(), "token") };
    // The gateway reports every 10 seconds, which can be between two of the three requests.
    await waitFor(
      async () => {
        const response = await fetch(`${bed.gatewayUrl}/org/usage?by=route`, { headers });
        const { usage } = Value.Decode(MonthUsage, await response.json());
        return usage.some(({ route, requests }) => route === "/demo/burst" && requests === 3);
      },
      { timeoutMs: PAGE_TIMEOUT_MS / 2, what: "the report of the requests" },
    );
    const { page, go, complaints, forbiddenUrls } = await bed.open("ada");
    await go(`#/org/${id}/usage`);
    await page.getByRole("img", { name: /^Requests by day: \d+ in all, 0 refused, 0 failed\.$/ }).waitFor();
    await page.getByText("No request was charged to a quota in this period.").waitFor();
    await page.getByLabel("Divided by").selectOption("route");
    await page.getByRole("row", { name: /GET \/demo\/burst 3/ }).waitFor();
    await page.getByRole("button", { name: "Show the limits" }).click();
    await page.getByRole("table", { name: "Limits of your calls" }).waitFor();
    expect([complaints, forbiddenUrls]).toEqual([[], []]);
  });

  // PT-35
  test("warns from 80 percent of a quota, and says when a quota is used up", async () => {
    const id = await bed.organization("ada", "Quotas");
    const { page, go, violations } = await bed.open("ada", { viewport: { width: 360, height: 800 } });
    await respondingWith(page, [
      quota({ policy: "gone", charged: 1_003 }),
      quota({ policy: null, service: null, method: "GET", route: "/w/{id}", period: "day", charged: 812 }),
      quota({ policy: "fine", charged: 799 }),
      quota({ policy: "older", requests: null, charged: 5 }),
    ]);
    await go(`#/org/${id}/usage`);
    await page.getByText("gone is used up.").waitFor();
    await page.getByText("81 % of GET /w/{id} is used.").waitFor();
    expect(await page.getByText(/% of .* is used\./).count()).toBe(1);
    await page.getByText("812 of 1,000 requests are used. 188 are left.").waitFor();
    await page.getByText("1,003 of 1,000 requests are used. 0 are left.").waitFor();
    await page.getByText("5 requests are used.").waitFor();
    const meters = page.getByRole("meter");
    expect(await meters.count()).toBe(3);
    expect(await meters.first().getAttribute("value")).toBe("1000");
    const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(Number(wide)).toBeLessThanOrEqual(0);
    expect(await violations()).toEqual([]);
  });

  // PT-34, PT-32
  test("shows the month of its URL, in several pages, with names as text", async () => {
    await bed.call("amy", "PATCH", "/user", { display_name: "Amy Pond" });
    const id = await bed.organization("amy", "Months");
    const session = await bed.call("amy", "POST", `/user/organizations/${id}/session`, {});
    const { page, go } = await bed.open("amy");
    const member_id = textOf(await session.json(), "member_id");
    const asked = await respondingWith(page, [], { gaps: [{ after: TODAY }], member_id });
    await go(`#/org/${id}/usage?month=1999-01`);
    await page.getByText("Some requests may be missing after").waitFor();
    await page.locator("main").getByText(HOSTILE).waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
    const before = new Date(Date.UTC(NOW.getUTCFullYear(), NOW.getUTCMonth() - 1)).toISOString();
    const month = before.slice(0, "2026-11".length);
    await page.getByLabel("Month", { exact: true }).focus();
    await page.keyboard.press("ArrowDown");
    await waitFor(() => asked.some((each) => each.startsWith(`day ${before}`)), {
      what: "the request for the previous month",
    });
    expect(page.url()).toEndWith(`#/org/${id}/usage?month=${month}`);
    await page.getByLabel("Divided by").selectOption("route");
    await page.getByRole("row", { name: /GET \/first/ }).waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByRole("row", { name: /GET \/one/ }).waitFor();
    await page.getByLabel("Divided by").selectOption("key");
    await page.getByRole("row", { name: /^Amy Pond in the portal/ }).waitFor();
    await page.getByRole("row", { name: /Member …00000 ostiary-k/ }).waitFor();
    asked.length = 0;
    await page.getByLabel("With the calls of this portal").check();
    await waitFor(() => asked.length >= 2, { what: "the requests with the portal's calls" });
    expect(asked.toSorted()).toEqual([`day ${before} all`, `key ${before} all`]);
    await page.getByText("The same as a table").click();
    await page
      .getByRole("row", { name: /1,234 30 4/ })
      .first()
      .waitFor();
  });

  // PT-36
  test("shows the limits of the member's calls with the numbers of the plan", async () => {
    const id = await bed.organization("ada", "Limits");
    const { page, go } = await bed.open("ada");
    await respondingWith(page, []);
    const operation = (operationId: string, limit: unknown, labels?: string[]) => ({
      get: { operationId, "x-scope": "organization", "x-rate-limit": limit, "x-required-labels": labels },
    });
    const month = (requests: number) => ({ policy: "monthly", requests, period: "month" });
    await page.route("**/edge/openapi.json", (route) =>
      route.fulfill({
        json: {
          paths: {
            "/planned": operation("planned", {
              limits: [month(10)],
              plans: { pro: [month(99), { policy: null, requests: 5, window_seconds: 60 }] },
            }),
            "/plain": operation("plain", { requests: 7, window_seconds: 30, policy: "burst" }),
            "/default": operation("default", { default: true }),
            "/free": operation("free", false),
            "/unreadable": operation("unreadable", { limits: [{ requests: "many" }, null], plans: [] }),
          },
        },
      }),
    );
    await page.route("**/org", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), plan: "pro" } });
    });
    await go(`#/org/${id}/usage`);
    await page.getByRole("button", { name: "Show the limits" }).click();
    const row = (name: string) => page.getByRole("row", { name }).waitFor();
    await row("GET /planned monthly: 99 requests each month; 5 requests in 60 s");
    await row("GET /plain burst: 7 requests in 30 s");
    await row("GET /default the gateway's default limit");
    await row("GET /free no limit");
    await row("GET /unreadable no limit");
  });
});
