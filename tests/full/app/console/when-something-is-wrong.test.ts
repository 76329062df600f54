import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page, Route } from "playwright-core";
import { ADMIN_TOKEN, current, type Registry, service, startRegistry } from "../../../app/registry/bed.ts";
import { freePort, freshDatabase } from "../../../support/index.ts";
import { openConsole } from "../../../support/pages/console-page.ts";
import { browserPath, PAGE_TIMEOUT_MS, sharedBrowser } from "../../../support/pages/swagger-page.ts";
import { area, dialog, review, useConsole } from "./bed.ts";

setDefaultTimeout(PAGE_TIMEOUT_MS);

async function reviewAndOpen(page: Page, services: object): Promise<void> {
  await review(page, services);
  await page.getByRole("button", { name: "Apply …" }).click();
  await dialog(page).waitFor();
}
const confirm = (page: Page) =>
  dialog(page)
    .getByRole("button", { name: /^Apply to/ })
    .click();

const envelope = (type: string, code: string) => ({
  error: { type, code, message: "A sentence.", request_id: "r-1", details: null },
});
const LIMITED = envelope("api_error", "RATE_LIMITED");
const UNREADABLE = envelope("invalid_request_error", "CONFLICT");

describe.skipIf(browserPath === undefined)("the console", () => {
  const bed = useConsole({ widgets: service("/widgets") });

  test("refuses a wrong token and accepts the right one", async () => {
    const { page, enter } = await bed.visit();
    for (const wrong of ["wrong", "with a space", "ä", `${ADMIN_TOKEN}x`]) {
      await enter(wrong);
      // The alert about the previous token stays during the check of this one, and the form ignores Enter.
      await page.locator('form[aria-busy="false"]').waitFor();
      await page.getByRole("alert").filter({ hasText: "The registry does not know this token" }).waitFor();
    }
    await enter(ADMIN_TOKEN);
    await page.getByRole("heading", { level: 1, name: "Routes" }).waitFor();
    await page.getByRole("button", { name: "Forget token" }).click();
    await page.getByLabel("Token", { exact: true }).waitFor();
    expect(await page.getByLabel("Token", { exact: true }).inputValue()).toBe("");
  });

  test("asks again if the token has changed, and keeps the text that was entered until the operator forgets the token", async () => {
    const { page, go, enter } = await bed.open({ fragment: "#/apply" });
    await area(page).fill("services: {}");
    const refuse = (route: Route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: "Bearer old" } });
    await page.route("**/services", refuse);
    await go("#/routes");
    await page.getByRole("alert").filter({ hasText: "no longer accepts the token" }).waitFor();
    await page.unroute("**/services", refuse);
    await enter(ADMIN_TOKEN);
    await page.getByRole("heading", { level: 1, name: "Routes" }).waitFor();
    await go("#/apply");
    expect(await area(page).inputValue()).toBe("services: {}");
    await page.getByRole("button", { name: "Forget token" }).click();
    await enter(ADMIN_TOKEN);
    await go("#/apply");
    expect(await area(page).inputValue()).toBe("");
  });

  test("keeps showing loaded data while the registry is down, and then reloads it", async () => {
    const { page } = await bed.open();
    const rows = page.getByRole("table", { name: "Routes" }).getByRole("row");
    await rows.nth(1).waitFor();
    const before = await rows.count();
    await page.route("**/services", (route) => route.abort());
    await page.getByRole("button", { name: "Reload" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "The registry does not respond." });
    await alert.waitFor();
    expect(await rows.count()).toBe(before);
    await page.unroute("**/services");
    await alert.getByRole("button", { name: "Try again" }).click();
    await alert.waitFor({ state: "detached" });
  });

  // RG-135
  test("refuses the second of two conflicting applies, and reviews it again", async () => {
    await bed.registry.put("contested", service("/contested/0"));
    const [ada, ben] = [await bed.open({ fragment: "#/apply" }), await bed.open({ fragment: "#/apply" })];
    await reviewAndOpen(ada.page, { contested: service("/contested/ada") });
    await reviewAndOpen(ben.page, { contested: service("/contested/ben") });
    await confirm(ada.page);
    await ada.page.getByRole("heading", { name: "The document is applied" }).waitFor();
    await confirm(ben.page);
    const alert = ben.page.getByRole("dialog").getByRole("alert");
    await alert.getByText("Another change came first").waitFor();
    expect(await current(bed.registry)).toMatchObject({ contested: service("/contested/ada") });
    await alert.getByRole("button", { name: "Review again" }).click();
    await ben.page.getByRole("list", { name: "Changes of contested" }).getByText("/contested/ada").waitFor();
    await ben.page.getByRole("button", { name: "Apply …" }).click();
    await confirm(ben.page);
    await ben.page.getByRole("heading", { name: "The document is applied" }).waitFor();
    expect(await current(bed.registry)).toMatchObject({ contested: service("/contested/ben") });
  });

  // RG-135
  test("does not delete a revision that was written after the deletion was shown", async () => {
    await bed.registry.put("fought-over", service("/fought-over"));
    const { page } = await bed.open({ fragment: "#/services/fought-over" });
    await page.getByRole("button", { name: "Delete …" }).click();
    await bed.registry.put("fought-over", service("/fought-over/new"));
    await page.getByRole("dialog").getByRole("textbox", { name: /^Type/ }).fill("fought-over");
    await page.getByRole("button", { name: "Delete the service" }).click();
    const alert = page.getByRole("dialog").getByRole("alert");
    await alert.getByText("Another change came first").waitFor();
    await alert.getByRole("button", { name: "Load the current state" }).click();
    await page.getByText("/fought-over/new").waitFor();
    expect(Object.keys(await current(bed.registry))).toContain("fought-over");
  });

  // RG-135
  test("reviews a document again after another service took a route of the document", async () => {
    const { page } = await bed.open({ fragment: "#/apply" });
    await reviewAndOpen(page, { late: service("/taken") });
    await bed.registry.put("early", service("/taken"));
    await confirm(page);
    const alert = dialog(page).getByRole("alert");
    await alert.getByText("Another service owns these routes").waitFor();
    await alert.getByRole("button", { name: "Review again" }).click();
    await dialog(page).waitFor({ state: "detached" });
    await page.getByRole("alert").getByText("GET /taken of late belongs to early").waitFor();
    expect(await page.getByRole("button", { name: "Apply …" }).count()).toBe(0);
  });

  // RG-135
  test("shows that a service is gone if somebody else deleted it first", async () => {
    await bed.registry.put("gone-first", service("/gone-first"));
    const { page } = await bed.open({ fragment: "#/services/gone-first" });
    await page.getByRole("button", { name: "Delete …" }).click();
    await bed.registry.call("DELETE", "/services/gone-first");
    await dialog(page).getByRole("textbox", { name: /^Type/ }).fill("gone-first");
    await dialog(page).getByRole("button", { name: "Delete the service" }).click();
    const alert = dialog(page).getByRole("alert");
    await alert.getByText("Not found", { exact: true }).waitFor();
    await alert.getByRole("button", { name: "Load the current state" }).click();
    await page.getByText("gone-first is not published.").waitFor();
    expect(await dialog(page).count()).toBe(0);
  });

  // RG-135
  test("loads the revisions again after another service took a route of the restored one", async () => {
    await bed.registry.put("moved", service("/moved/from"));
    await bed.registry.put("moved", service("/moved/to"));
    const { page } = await bed.open({ fragment: "#/services/moved/revisions/1" });
    await page.getByRole("button", { name: "Restore revision 1 …" }).click();
    await bed.registry.put("successor", service("/moved/from"));
    await bed.registry.put("moved", service("/moved/on"));
    const restore = (revision: number) =>
      dialog(page)
        .getByRole("button", { name: `Restore as revision ${revision}` })
        .click();
    await restore(3);
    const alert = dialog(page).getByRole("alert");
    await alert.getByText("Another change came first").waitFor();
    await alert.getByRole("button", { name: "Load the current state" }).click();
    await page.getByRole("button", { name: "Restore revision 1 …" }).click();
    await restore(4);
    await alert.getByText("Another service owns these routes").waitFor();
    await bed.registry.call("DELETE", "/services/successor");
    await restore(4);
    await page.getByRole("heading", { level: 2, name: /^Revision 4/ }).waitFor();
  });

  // RG-135
  test("does not restore a revision before it shows the changes, unless the registry cannot compare them", async () => {
    await bed.registry.put("unseen", service("/unseen/1"));
    await bed.registry.put("unseen", service("/unseen/2"));
    const { page } = await bed.open({ fragment: "#/services/unseen/revisions/1" });
    await page.getByRole("button", { name: "Restore revision 1 …" }).waitFor();
    const restore = dialog(page).getByRole("button", { name: "Restore as revision 3" });
    const isOff = () => restore.getAttribute("aria-disabled");
    const comparison = Promise.withResolvers<void>();
    await page.route("**/revisions/2/diff/1", async (route) => {
      await comparison.promise;
      await route.abort();
    });
    await page.getByRole("button", { name: "Restore revision 1 …" }).click();
    await dialog(page).waitFor();
    expect(await isOff()).toBe("true");
    comparison.resolve();
    const alert = dialog(page).getByRole("alert");
    await alert.getByText("The registry does not respond", { exact: true }).waitFor();
    expect(await isOff()).toBe("true");

    await page.unroute("**/revisions/2/diff/1");
    await page.route("**/revisions/2/diff/1", (route) => route.fulfill({ status: 409, json: UNREADABLE }));
    await alert.getByRole("button", { name: "Try again" }).click();
    await alert.getByText("The registry cannot read this revision", { exact: true }).waitFor();
    expect(await isOff()).toBe("false");

    await page.unroute("**/revisions/2/diff/1");
    await alert.getByRole("button", { name: "Try again" }).click();
    await dialog(page).getByText("2 changes").waitFor();
    await restore.click();
    await page.getByRole("heading", { level: 2, name: /^Revision 3/ }).waitFor();
  });

  // RG-135
  test("does not apply an earlier review while it reviews the document again", async () => {
    const { page } = await bed.open({ fragment: "#/apply" });
    await review(page, { reviewed: service("/reviewed") });
    const apply = page.getByRole("button", { name: "Apply …" });
    await apply.waitFor();
    const second = Promise.withResolvers<void>();
    await page.route("**/apply?dry_run=true", async (route) => {
      await second.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Review the changes" }).click();
    await page.getByRole("button", { name: "Reviewing …" }).waitFor();
    await apply.click({ force: true });
    expect(await dialog(page).count()).toBe(0);
    second.resolve();
    await page.getByRole("button", { name: "Review the changes" }).waitFor();
    expect(await dialog(page).count()).toBe(0);
    await apply.click();
    await dialog(page).waitFor();
  });

  test("lets the operator repeat a write that a rate limit refused", async () => {
    await bed.registry.put("limited", service("/limited"));
    const { page } = await bed.open({ fragment: "#/services/limited" });
    await page.getByRole("button", { name: "Delete …" }).click();
    await page.route(
      "**/services/limited*",
      (route) => route.fulfill({ status: 429, json: LIMITED, headers: { "Retry-After": "1" } }),
      { times: 1 },
    );
    await dialog(page).getByRole("textbox", { name: /^Type/ }).fill("limited");
    const remove = dialog(page).getByRole("button", { name: "Delete the service" });
    await remove.click();
    await dialog(page).getByRole("alert").getByText("Too many requests", { exact: true }).waitFor();
    expect(await dialog(page).getByRole("alert").getByRole("button").count()).toBe(0);
    await remove.click();
    await page.getByRole("heading", { level: 1, name: "Revisions of limited" }).waitFor();
    expect(Object.keys(await current(bed.registry))).not.toContain("limited");
  });
});

describe.skipIf(browserPath === undefined)("a registry that dies during an apply", () => {
  let browser: Browser;
  let registry: Registry;
  let databaseUrl: string;
  // The registry listens on this port again after its restart, so the system must not assign the port until then.
  const env = { PORT: String(freePort()) };
  beforeAll(async () => {
    browser = await sharedBrowser();
    databaseUrl = await freshDatabase();
    registry = await startRegistry({ databaseUrl, env });
  }, PAGE_TIMEOUT_MS);
  afterAll(() => registry.stop());

  /** Stops the registry during an apply and drops the response. With `before`, drops the request too. */
  async function dyingUnder(page: Page, before: boolean): Promise<void> {
    await page.route("**/apply*", async (route) => {
      if (route.request().url().includes("dry_run")) return route.continue();
      if (!before) await route.fetch();
      await registry.stop();
      return route.abort("connectionreset");
    });
  }

  test.each([
    ["committed", false, "Nothing would change."],
    ["lost", true, "What would change"],
  ])("an apply that was %s is recognized once the registry is back", async (_, before, says) => {
    const shown = await openConsole(browser, registry.url, { fragment: "#/apply" });
    const { page } = shown;
    await shown.enter(ADMIN_TOKEN);
    const name = `dying-${before}`;
    await reviewAndOpen(page, { [name]: service(`/${name}`) });
    await dyingUnder(page, before);
    await confirm(page);
    const alert = page.getByRole("dialog").getByRole("alert");
    await alert.getByText("The registry may have applied the document").waitFor();
    // The button is disabled, so the operator cannot send the apply twice.
    expect(await page.getByRole("button", { name: /^Apply to/ }).getAttribute("aria-disabled")).toBe("true");
    await alert.getByRole("button", { name: "Review again" }).click();
    const away = page.getByRole("alert").filter({ hasText: "The registry does not respond" });
    await away.waitFor();

    await page.unroute("**/apply*");
    registry = await startRegistry({ databaseUrl, env });
    expect(Object.keys(await current(registry)).includes(name)).toBe(!before);
    await away.getByRole("button", { name: "Try again" }).click();
    await page.getByText(says).waitFor();
    await shown.close();
  });
});
