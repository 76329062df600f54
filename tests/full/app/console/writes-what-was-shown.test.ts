import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { current, service } from "../../../app/registry/bed.ts";
import { browserPath, PAGE_TIMEOUT_MS } from "../../../support/pages/swagger-page.ts";
import { area, dialog, review, useConsole, WIDGETS } from "./bed.ts";

setDefaultTimeout(PAGE_TIMEOUT_MS);

describe.skipIf(browserPath === undefined)("the console", () => {
  const bed = useConsole({ widgets: WIDGETS, spare: service("/spare") });

  // RG-135
  test("reviews a document, marks changes that open routes or break callers, and applies it once confirmed", async () => {
    const { page, go, complaints } = await bed.open();
    await go("#/services/widgets");
    await page.getByRole("link", { name: "Edit as a document" }).click();
    const text = await area(page).inputValue();
    await review(page, text.replace("- widgets:write", "- widgets:write\n            - anybody"));
    await page.getByText("1 change: 1 opens a route.").waitFor();
    const changes = page.getByRole("list", { name: "Changes of widgets" });
    await changes.getByText("members with anybody may call the route too").waitFor();
    expect(await changes.getByRole("deletion").textContent()).toBe("widgets:write");
    expect(await changes.getByRole("insertion").textContent()).toBe("widgets:write, anybody");

    await page.getByRole("button", { name: "Apply …" }).click();
    const confirmation = page.getByRole("dialog", { name: "Apply 1 change?" });
    await confirmation.getByRole("button", { name: "Change nothing" }).click();
    await confirmation.waitFor({ state: "detached" });
    expect((await bed.registry.call("GET", "/services/widgets")).body.revision).toBe(1);

    await page.getByRole("button", { name: "Apply …" }).click();
    await confirmation.getByText("members with anybody may call the route too").waitFor();
    await confirmation.getByRole("button", { name: "Apply to 1 service" }).click();
    await page.getByRole("heading", { name: "The document is applied" }).waitFor();
    await page.getByText("No gateway is running. The next gateway to start will serve the change.").waitFor();
    const { body } = await bed.registry.call("GET", "/services/widgets");
    expect([body.revision, body.organization.routes[1].required_labels]).toEqual([
      2,
      ["widgets:write", "anybody"],
    ]);

    await page.getByRole("link", { name: "widgets, revision 2" }).click();
    await page.getByRole("heading", { level: 2, name: /^Revision 2/ }).waitFor();
    await page.getByText("1 change: 1 opens a route.").waitFor();
    expect(complaints).toEqual([]);
  });

  test("lists the violations of a document with line numbers, and links to the lines", async () => {
    const { page } = await bed.open({ fragment: "#/apply" });
    await review(
      page,
      "services:\n  bad:\n    url: https://bad:1\n    user:\n      routes:\n        - path: /B\n          methods: [GOT]\n",
    );
    const violations = page.getByRole("region", { name: "3 problems in the document" });
    await violations.waitFor();
    expect(await violations.getByRole("listitem").allTextContents()).toEqual([
      expect.stringMatching(/^Line 3 services\.bad\.url .*TLS/),
      expect.stringMatching(/^Line 6 services\.bad\.user\.routes\[0\]\.path /),
      expect.stringMatching(/^Line 7 services\.bad\.user\.routes\[0\]\.methods\[0\] /),
    ]);
    await violations.getByRole("button", { name: "Line 7" }).click();
    const selected =
      "document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)";
    expect(await page.evaluate(selected)).toBe("GOT");

    await review(page, "services:\n  a: [\n  b: }\n");
    await page
      .getByRole("region", { name: "1 problem in the document" })
      .getByRole("button", { name: /^Line/ })
      .waitFor();
    await review(page, "{}");
    await page.getByRole("region", { name: /problems? in the document/ }).waitFor();
  });

  test("lists the routes that another service owns", async () => {
    const { page } = await bed.open({ fragment: "#/apply" });
    await review(page, { thief: service("/spare", "/own") });
    const alert = page.getByRole("alert");
    await alert.getByText("Another service owns these routes").waitFor();
    expect(await alert.getByRole("listitem").textContent()).toBe("GET /spare of thief belongs to spare");
    expect(Object.keys(await current(bed.registry))).not.toContain("thief");
  });

  test("stays where the operator went during a write, and says how the write ended", async () => {
    await bed.registry.apply({ slow: service("/slow/1") });
    const { page, go } = await bed.open({ fragment: "#/gateways" });
    /** Deletes the service, and goes back before the registry gets the request. Returns what lets the request go on. */
    async function leaveDeletion(): Promise<() => void> {
      const released = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      await page.route(
        /\/services\/slow\?/,
        async (route) => {
          held.resolve();
          await released.promise;
          await route.continue();
        },
        { times: 1 },
      );
      await go("#/services/slow");
      await page.getByRole("button", { name: "Delete …" }).click();
      await dialog(page).getByRole("textbox", { name: /^Type/ }).fill("slow");
      await dialog(page).getByRole("button", { name: "Delete the service" }).click();
      await held.promise;
      await page.goBack();
      await dialog(page).waitFor({ state: "detached" });
      return released.resolve;
    }
    const status = page.getByRole("status", { name: "Status messages" });

    const refuse = await leaveDeletion();
    await bed.registry.apply({ slow: service("/slow/2") });
    refuse();
    await status.getByText("Delete slow? This failed: Another change came first.").waitFor();
    expect(Object.keys(await current(bed.registry))).toContain("slow");

    const release = await leaveDeletion();
    release();
    await status.getByText("slow is deleted.").waitFor();
    await page.getByRole("heading", { level: 1, name: "Gateways" }).waitFor();
    expect(await page.evaluate("location.hash")).toBe("#/gateways");
    expect(Object.keys(await current(bed.registry))).not.toContain("slow");
    await bed.registry.apply({ slow: service("/slow/1") });
  });

  // RG-173
  test("shows what a deletion removes, deletes once the name is typed, and restores the service", async () => {
    await bed.registry.apply({ gone: service("/gone/1", "/gone/2") });
    const { page, go } = await bed.open({ fragment: "#/services/gone" });
    await page.getByRole("button", { name: "Delete …" }).click();
    await page.getByRole("dialog", { name: "Delete gone?" }).waitFor();
    await dialog(page).getByText("3 changes: 2 break callers.").waitFor();
    expect(
      await dialog(page).getByRole("list", { name: "Changes" }).getByText("the route is gone").count(),
    ).toBe(2);
    const remove = dialog(page).getByRole("button", { name: "Delete the service" });
    await dialog(page).getByRole("textbox", { name: /^Type/ }).fill("gon");
    expect(await remove.getAttribute("aria-disabled")).toBe("true");
    await remove.click({ force: true });
    expect(Object.keys(await current(bed.registry))).toContain("gone");
    await dialog(page).getByRole("textbox", { name: /^Type/ }).fill("gone");
    await remove.click();

    await page.getByRole("heading", { level: 1, name: "Revisions of gone" }).waitFor();
    expect(Object.keys(await current(bed.registry))).not.toContain("gone");
    await page.getByRole("link", { name: "Services", exact: true }).click();
    await page.getByRole("link", { name: "Deleted services" }).click();
    await page.getByRole("status").filter({ hasText: "1 deleted service" }).waitFor();
    await page.getByRole("link", { name: "Restore … gone" }).click();
    await page.getByRole("button", { name: "Restore revision 1 …" }).click();
    await dialog(page).getByText("3 changes: no change opens a route or breaks callers.").waitFor();
    await dialog(page).getByRole("button", { name: "Restore as revision 3" }).click();
    await page.getByRole("heading", { level: 2, name: /^Revision 3/ }).waitFor();
    expect((await bed.registry.call("GET", "/services/gone")).body.revision).toBe(3);
    await go("#/deleted");
    await page.getByText("No service is deleted.").waitFor();
  });
});
