import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { clientOf, current, type Entry, service, tokenOf } from "../../../app/registry/bed.ts";
import { entry, OperatorsFile } from "../../../app/registry/operators.ts";
import { browserPath, PAGE_TIMEOUT_MS } from "../../../support/pages/swagger-page.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { dialog, review, useConsole } from "./bed.ts";

setDefaultTimeout(PAGE_TIMEOUT_MS);

const BOUNDS = { services: ["own-*"], paths: ["/own", "/teams/{team}/own"], urls: ["http://upstream:8080"] };
const HOSTILE = `<img src=x onerror="window.ran=1">`;

const note = (page: Page) => page.getByRole("note");

describe.skipIf(browserPath === undefined)("the console", () => {
  const file = new OperatorsFile();
  const operators = [entry("docs", "reader"), entry("team", "publisher", BOUNDS)];
  const write = (...entries: Entry[]) => file.write(...operators, ...entries);
  beforeAll(() => write());
  const bed = useConsole(
    {
      "own-a": service("/own/a"),
      "own-b": service("/own/b", "/other/b"),
      other: { ...service("/other/c"), url: "http://other:8080" },
    },
    { OPERATORS_FILE: file.path },
  );
  beforeAll(async () => {
    await bed.registry.put("own-c", service("/other/old"));
    await bed.registry.put("own-c", service("/own/c/1"));
    await bed.registry.put("own-c", service("/own/c/2"));
  });

  const open = (name: string, fragment = "") => bed.open({ fragment, token: tokenOf(name) });
  const roleOf = async (name: string) => {
    const { status, body } = await clientOf(bed.registry.url, tokenOf(name)).call("GET", "/operator");
    return status === 200 ? body.role : status;
  };
  const signedInAs = (page: Page, name: string, role: string) =>
    page.getByText(`Signed in as ${name}, ${role}`).waitFor();

  // RG-175
  test("lists all operators, with their bounds", async () => {
    const { page, complaints } = await open("docs");
    await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Operators" }).click();
    const row = (name: string) =>
      page.getByRole("table").getByRole("row").filter({ hasText: name }).textContent();
    expect(await row("team")).toMatch(/publisher.*own-\*.*http:\/\/upstream:8080.*1 token/);
    expect(await row("docs")).toMatch(/reader.*nothing.*1 token.*never/);
    expect(complaints).toEqual([]);
  });

  // RG-131
  test("shows a reader all views, but no button that writes", async () => {
    const { page, go, complaints } = await open("docs");
    await signedInAs(page, "docs", "reader");
    const places = page.getByRole("navigation", { name: "Console" }).getByRole("link");
    expect(await places.allTextContents()).toEqual([
      "Routes",
      "Services",
      "Changes",
      "Look up",
      "Review",
      "Gateways",
      "Operators",
    ]);
    await go("#/services/own-a");
    await page.getByRole("table", { name: "Routes" }).waitFor();
    expect(await page.getByRole("button", { name: "Delete …" }).count()).toBe(0);
    await page.getByRole("link", { name: "Show as a document" }).click();
    await page.getByRole("heading", { level: 1, name: "Review a document" }).waitFor();
    await review(page, { "own-a": service("/own/changed") });
    await page.getByText("docs is a reader and cannot apply the document.").waitFor();
    await page.getByRole("list", { name: "Changes of own-a" }).getByText("/own/changed").waitFor();
    expect(await page.getByRole("button", { name: "Apply …" }).count()).toBe(0);
    await go("#/services/own-c/revisions/2");
    await page.getByText("2 changes").waitFor();
    expect(await page.getByRole("button", { name: /^Restore/ }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  // RG-132
  test("shows a publisher its bounds, and what is outside of them in place of the buttons", async () => {
    const { page, go } = await open("team", "#/services/own-a");
    await signedInAs(page, "team", "publisher");
    await page.getByRole("button", { name: "Delete …" }).waitFor();
    await go("#/services/other");
    await note(page).getByText("team may not change or delete other.").waitFor();
    expect(await note(page).getByRole("listitem").allTextContents()).toEqual(["service other"]);
    expect(await page.getByRole("button", { name: "Delete …" }).count()).toBe(0);
    await go("#/services/own-b");
    await note(page).getByText("team may not change or delete own-b.").waitFor();
    expect(await note(page).getByRole("listitem").allTextContents()).toEqual(["/other/b of service own-b"]);
    await note(page).getByRole("link", { name: "Your permissions" }).click();
    const own = page.getByRole("row").filter({ hasText: "team" });
    await own.getByText(`services ${BOUNDS.services.join()}`).waitFor();
  });

  // RG-132
  test("lets a publisher restore revisions within its bounds, and says why it cannot restore others", async () => {
    const { page, go } = await open("team", "#/services/own-c/revisions/1");
    await note(page).getByText("team may not restore revision 1.").waitFor();
    expect(await note(page).getByRole("listitem").allTextContents()).toEqual(["/other/old of service own-c"]);
    expect(await page.getByRole("button", { name: /^Restore/ }).count()).toBe(0);
    await go("#/services/own-c/revisions/2");
    await page.getByRole("button", { name: "Restore revision 2 …" }).click();
    await dialog(page).getByText("2 changes").waitFor();
    await dialog(page).getByRole("button", { name: "Keep the newest revision" }).click();
  });

  // RG-132, RG-133
  test("lists the parts of a document that the publisher may not change, and writes nothing", async () => {
    const { page } = await open("team", "#/apply");
    await review(page, {
      "own-new": service("/own/new", "/other/new"),
      other: service("/other/d"),
      "own-a": service("/own/a2"),
    });
    const alert = page.getByRole("alert");
    await alert.getByText("You are not allowed to make this change").waitFor();
    expect((await alert.getByRole("listitem").allTextContents()).toSorted()).toEqual([
      "/other/new of service own-new",
      "service other",
    ]);
    expect(Object.keys(await current(bed.registry))).not.toContain("own-new");
  });

  // RG-133
  test("informs an operator that the role has changed, and then shows only what the new role allows", async () => {
    await write(entry("demoted", "admin"));
    await bed.registry.put("own-demoted", service("/own/demoted"));
    await waitFor(async () => (await roleOf("demoted")) === "admin");
    const { page, complaints } = await open("demoted", "#/services/own-demoted");
    await page.getByRole("button", { name: "Delete …" }).click();
    await write(entry("demoted", "reader"));
    await waitFor(async () => (await roleOf("demoted")) === "reader");
    await dialog(page).getByRole("textbox", { name: /^Type/ }).fill("own-demoted");
    await dialog(page).getByRole("button", { name: "Delete the service" }).click();
    const alert = dialog(page).getByRole("alert");
    await alert.getByText("You are not allowed to make this change").waitFor();
    await alert.getByText("Operator demoted is a reader and cannot write.").waitFor();
    await signedInAs(page, "demoted", "reader");
    await dialog(page).getByRole("button", { name: "Keep the service" }).click();
    await page.getByRole("button", { name: "Delete …" }).waitFor({ state: "detached" });
    expect(Object.keys(await current(bed.registry))).toContain("own-demoted");

    await write(
      entry("demoted", "publisher", { services: ["own-*"], paths: ["/own"], urls: ["http://upstream:8080"] }),
    );
    await waitFor(async () => (await roleOf("demoted")) === "publisher");
    await page.getByRole("link", { name: "Routes" }).click();
    await page.getByRole("button", { name: "Reload" }).click();
    await signedInAs(page, "demoted", "publisher");
    expect(complaints).toEqual([]);
  });

  // RG-134
  test("stores the reason and the link of an apply, and shows both as text", async () => {
    const { page, complaints } = await open("team", "#/apply");
    await review(page, { "own-noted": service("/own/noted") });
    await page.getByRole("button", { name: "Apply …" }).click();
    const [reason, link] = [`Größere ${HOSTILE}`, "https://tickets.example.com/7"];
    await dialog(page).getByRole("textbox", { name: "Reason" }).fill(reason);
    await dialog(page).getByRole("textbox", { name: "Link" }).fill("javascript:alert(1)");
    await dialog(page).getByRole("button", { name: "Apply to 1 service" }).click();
    await dialog(page).getByRole("alert").getByText("X-Change-Link must be").waitFor();
    const field = dialog(page).getByRole("textbox", { name: "Link" });
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    await field.fill(link);
    await dialog(page).getByRole("button", { name: "Apply to 1 service" }).click();
    await page.getByRole("link", { name: "own-noted, revision 1" }).click();
    await page.getByText(reason).waitFor();
    await page.getByText("by team").waitFor();
    await page.getByRole("link", { name: link }).waitFor();
    const { body } = await bed.registry.call("GET", "/services/own-noted/revisions/1");
    expect(body).toMatchObject({ operator: "team", reason, link });
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(complaints).toEqual([]);
  });
});
