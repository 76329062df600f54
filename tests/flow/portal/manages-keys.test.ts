import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Page, Request } from "playwright-core";
import { browserPath, PAGE_TIMEOUT_MS } from "../../support/swagger-page.ts";
import { idOf, textOf, usePortal } from "./bed.ts";

/** Service accounts and API keys, in a real browser. */

setDefaultTimeout(PAGE_TIMEOUT_MS);

const HOSTILE = `<img src=x onerror="window.ran=1">`;

describe.skipIf(browserPath === undefined)("keys in the portal", () => {
  const bed = usePortal();

  const writesOf = (page: Page) => {
    const seen: Request[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST" && request.url().includes("/api-keys")) seen.push(request);
    });
    return seen;
  };
  const key = (page: Page) => page.getByRole("figure", { name: "Key", exact: true }).locator("code");
  const statusWith = async (secret: string, path = "/org") =>
    (await fetch(`${bed.gateway_url}${path}`, { headers: { "X-API-Key": secret } })).status;
  const dialog = (page: Page) => page.getByRole("dialog");

  async function serviceAccount(organization_id: string, name: string): Promise<string> {
    const answer = await bed.callAsMember("ada", organization_id, "POST", "/org/service-accounts", { name });
    return idOf(await answer.json());
  }

  // PT-69, PT-70
  test("of a service account are made once, shown once, rotated with an overlap, and revoked", async () => {
    const id = await bed.organization("ada", "Engines");
    const { page, go, findings, complaints } = await bed.open("ada");
    await go(`#/org/${id}/service-accounts`);
    await page.getByText("There is no service account.").waitFor();
    await page.getByRole("button", { name: "Create a service account" }).click();
    await dialog(page).getByLabel("Name").fill("Nightly build");
    await dialog(page).getByLabel("Role").selectOption("auditor");
    expect(await findings()).toEqual([]);
    await dialog(page).getByRole("button", { name: "Create" }).click();
    await page.getByRole("region", { name: "Nightly build" }).waitFor();

    const posts = writesOf(page);
    await page.getByRole("button", { name: "Create a key" }).click();
    await dialog(page).getByLabel("Name").fill("Deploy");
    await dialog(page).getByRole("button", { name: "Create" }).dblclick();
    const first = (await key(page).textContent()) ?? "";
    expect(await findings()).toEqual([]);
    const call = await page.getByRole("figure", { name: "Try it" }).locator("code").textContent();
    const ran = Bun.spawnSync(["sh", "-c", call ?? ""]);
    expect(JSON.parse(ran.stdout.toString())).toMatchObject({ id });
    await dialog(page).getByRole("button", { name: "I stored the key" }).click();
    expect(posts).toHaveLength(1);
    expect(await page.content()).not.toContain(first);
    await page
      .getByRole("row", { name: /Deploy/ })
      .getByRole("button", { name: "Rotate" })
      .click();
    await dialog(page).getByLabel("The old key works for").selectOption("1 hour");
    await dialog(page).getByRole("button", { name: "Rotate" }).click();
    const second = (await key(page).textContent()) ?? "";
    await dialog(page).getByRole("button", { name: "I stored the key" }).click();
    expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200]);
    const rows = page.getByRole("row", { name: /Deploy/ });
    await rows.nth(1).waitFor();
    await rows.nth(0).getByText("ends soon:").waitFor();
    await rows.nth(1).getByText("never used").waitFor();

    await rows.nth(1).getByRole("button", { name: "Revoke" }).click();
    await dialog(page).getByRole("button", { name: "Revoke" }).click();
    await rows.nth(1).getByText("revoked").waitFor();
    expect(await rows.nth(1).getByRole("button").count()).toBe(0);
    await rows.nth(0).getByRole("link", { name: "What did this key do?" }).click();
    await page.getByText("No event matches.").waitFor();
    const prefix = new URLSearchParams(page.url().split("?")[1]).get("key_prefix") ?? "";
    expect([first, second].some((made) => prefix !== "" && made.startsWith(prefix))).toBe(true);
    expect(complaints).toEqual([]);
  });

  // PT-69
  test("of a service account end with it, and its name changes", async () => {
    const id = await bed.organization("ada", "Removed");
    const account = await serviceAccount(id, "Robot");
    const { page, go } = await bed.open("ada");
    await go(`#/org/${id}/service-accounts/${account}`);
    await page.getByRole("button", { name: "Rename" }).click();
    await dialog(page).getByLabel("Name").fill("  ");
    await dialog(page).getByRole("button", { name: "Rename" }).click();
    await dialog(page).getByText("Write something here.").waitFor();
    await dialog(page).getByLabel("Name").fill("Android");
    await dialog(page).getByRole("button", { name: "Rename" }).click();
    await page.getByRole("region", { name: "Android" }).waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page
      .getByRole("dialog", { name: "Remove Android?" })
      .getByRole("button", { name: "Remove" })
      .click();
    await page.getByText("There is no service account.").waitFor();
  });

  // PT-70
  test.each([
    ["a person", "#/my-keys", "/user"],
    ["a member", null, "/org"],
  ])("of %s are their own", async (_whose, fragment, path) => {
    const id = await bed.organization("ada", "Own");
    const { page, go } = await bed.open("ada");
    await go(fragment ?? `#/org/${id}/keys`);
    await page.getByRole("button", { name: "Create a key" }).click();
    await dialog(page).getByLabel("Name").fill(`Laptop ${id}`);
    await dialog(page).getByLabel("Ends").selectOption("never");
    await dialog(page).getByRole("button", { name: "Create" }).click();
    const secret = (await key(page).textContent()) ?? "";
    expect(await statusWith(secret, path)).toBe(200);
    await dialog(page).getByRole("button", { name: "I stored the key" }).click();
    const row = page.getByRole("row", { name: new RegExp(`Laptop ${id}`) });
    await row.getByText("never", { exact: true }).waitFor();
  });

  // PT-31
  test("are not made again when an answer is lost: the page says so and looks it up", async () => {
    const id = await bed.organization("ada", "Lost");
    const account = await serviceAccount(id, "Robot");
    const { page, go } = await bed.open("ada");
    await go(`#/org/${id}/service-accounts/${account}`);
    await page.getByText("There is no key.").waitFor();
    const posts = writesOf(page);
    await page.route("**/api-keys", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      await route.fetch();
      return route.fulfill({ status: 503, body: "" });
    });
    await page.getByRole("button", { name: "Create a key" }).click();
    await dialog(page).getByLabel("Name").fill("Once");
    const create = dialog(page).getByRole("button", { name: "Create" });
    await create.click();
    await dialog(page).getByText("It is not known whether this happened").waitFor();
    await dialog(page).getByText("If a new key is in the list, revoke it").waitFor();
    await create.click({ force: true });
    await dialog(page).getByRole("button", { name: "Try again" }).click();
    await page.getByRole("row", { name: /Once/ }).getByRole("button", { name: "Revoke" }).waitFor();
    expect(posts).toHaveLength(1);
  });

  // PT-69
  test("are not offered for change to a role that may not", async () => {
    const id = await bed.organization("ada", "Viewers");
    const account = await serviceAccount(id, "Robot");
    const invite = await bed.callAsMember("ada", id, "POST", "/org/invites", { role: "viewer" });
    await bed.call("grace", "POST", "/user/invites/redeem", { token: textOf(await invite.json(), "token") });
    const { page, go } = await bed.open("grace");
    await go(`#/org/${id}/service-accounts/${account}`);
    await page.getByText("There is no key.").waitFor();
    expect(await page.getByRole("button", { name: /^(Create|Rename|Remove)/ }).count()).toBe(0);
  });

  // PT-6, PT-32
  test("show names as text, in German too, and axe finds nothing", async () => {
    const id = await bed.organization("ada", "Hostile");
    const account = await serviceAccount(id, HOSTILE);
    const path = `/org/service-accounts/${account}/api-keys`;
    await bed.callAsMember("ada", id, "POST", path, { name: HOSTILE });
    const { page, go, findings, complaints } = await bed.open("ada", { locale: "de-DE" });
    await go(`#/org/${id}/service-accounts`);
    await page.getByRole("table", { name: "Dienstkonten" }).getByRole("link", { name: HOSTILE }).click();
    await page.getByRole("cell", { name: HOSTILE }).waitFor();
    await page.getByRole("button", { name: "Ersetzen" }).click();
    await page.getByRole("dialog", { name: `Den Schlüssel ${HOSTILE} ersetzen?` }).waitFor();
    expect(await findings()).toEqual([]);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(complaints).toEqual([]);
  });
});
