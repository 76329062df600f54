import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { INSTANCES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { Page } from "playwright-core";
import { ADMIN_TOKEN, service } from "../../../app/registry/bed.ts";
import { KEPT_BY_PAGE } from "../../../support/pages/sign-in-pages.ts";
import { browserPath, PAGE_TIMEOUT_MS } from "../../../support/pages/swagger-page.ts";
import { useConsole } from "./bed.ts";

setDefaultTimeout(PAGE_TIMEOUT_MS);

const HOSTILE = `"><img src=x onerror="window.ran=1"><script>window.ran=1</script>\${window.ran=1}`;

describe.skipIf(browserPath === undefined)("the console", () => {
  const bed = useConsole({
    widgets: service("/widgets", "/%3cscript%3e/{__proto__}", "/javascript:alert(1)/{constructor}"),
    __proto: service("/proto"),
    constructor: service("/constructor"),
    "toString.-_": service("/to-string"),
  });

  const expectNothingRan = async (page: Page) => {
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(await page.locator("img, script:not([src])").count()).toBe(0);
  };

  test("keeps the token out of storage, URL, title, attributes and history", async () => {
    const { page, go, forbiddenUrls } = await bed.open();
    for (const fragment of ["#/services", "#/lookup", "#/apply", "#/gateways", "#/services/widgets"]) {
      await go(fragment);
      await page.getByRole("heading", { level: 1 }).waitFor();
    }
    expect(await page.evaluate(KEPT_BY_PAGE)).not.toContain(ADMIN_TOKEN);
    expect(await page.context().cookies()).toEqual([]);
    expect(forbiddenUrls).toEqual([]);
    await page.reload();
    await page.getByLabel("Token", { exact: true }).waitFor();
    expect(await page.getByLabel("Token", { exact: true }).inputValue()).toBe("");
  });

  test("shows hostile routes, names and reasons as text", async () => {
    const { page, go, complaints } = await bed.open();
    await page.getByText("/%3cscript%3e/{__proto__}").waitFor();
    for (const name of ["constructor", "__proto", "toString.-_"]) {
      await go(`#/services/${name}`);
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await page.getByRole("table", { name: "Routes" }).waitFor();
    }
    await bed.registry.routeStore.put(
      `${INSTANCES_PREFIX}hostile`,
      JSON.stringify({
        instance: "hostile",
        started_at: "2026-01-01T00:00:00.000Z",
        loaded_at: "2026-01-01T00:00:00.000Z",
        store_revision: 1,
        services: 1,
        routes: 1,
        skipped: [{ service: HOSTILE, reason: `${HOSTILE} \`${HOSTILE}\` \`` }],
      }),
    );
    await go("#/gateways");
    await page.getByRole("link", { name: HOSTILE }).waitFor();
    await page.getByRole("link", { name: HOSTILE }).click();
    await page.getByRole("heading", { level: 1, name: HOSTILE }).waitFor();
    await bed.registry.routeStore.delete(`${INSTANCES_PREFIX}hostile`);
    await expectNothingRan(page);
    expect(complaints).toEqual([]);
  });

  test("runs nothing from a document or a search", async () => {
    const { page, go, complaints } = await bed.open();
    await page.getByLabel("Search routes").fill(HOSTILE);
    await page.getByText("No route matches.").waitFor();
    await go("#/apply");
    const area = page.getByRole("textbox", { name: /^Configuration document/ });
    for (const document of [
      JSON.stringify({ services: { [HOSTILE]: { url: HOSTILE, [HOSTILE]: HOSTILE } } }),
      JSON.stringify({ services: { ok: { ...service("/ok"), url: HOSTILE } } }),
      `services: !!js/function "function () { window.ran = 1 }"`,
      `${"[".repeat(10_000)}`,
      `a: &a [x]\nb: &b [${"*a,".repeat(1000)}]\nc: [${"*b,".repeat(1000)}]`,
    ]) {
      await area.fill(document);
      await page.getByRole("button", { name: "Review the changes" }).click();
      await page.getByRole("region", { name: /problems? in the document/ }).waitFor();
      await area.fill("");
      await page.getByRole("region", { name: /problems? in the document/ }).waitFor({ state: "detached" });
    }
    await expectNothingRan(page);
    expect(complaints).toEqual([]);
  });
});
