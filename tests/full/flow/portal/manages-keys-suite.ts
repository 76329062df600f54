/** Tests of the portal's pages for service accounts and API keys, in a browser. */
import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { browserPath } from "../../../support/pages/swagger-page.ts";
import { idOf, requestsOf, usePortal } from "./bed.ts";

describe.skipIf(browserPath === undefined)("the portal's pages for keys", () => {
  const bed = usePortal();

  const key = (page: Page) => page.getByRole("figure", { name: "Key", exact: true }).locator("code");
  const statusWith = async (secret: string, path = "/org") =>
    (await fetch(`${bed.gatewayUrl}${path}`, { headers: { "X-API-Key": secret } })).status;
  const dialog = (page: Page) => page.getByRole("dialog");

  async function serviceAccount(organization_id: string, name: string): Promise<string> {
    const response = await bed.callAsMember("ada", organization_id, "POST", "/org/service-accounts", {
      name,
    });
    return idOf(await response.json());
  }

  // PT-69, PT-70
  test("create a service account's key once, show it once, rotate it with an overlap, and revoke it", async () => {
    const id = await bed.organization("ada", "Engines");
    const { page, go, complaints } = await bed.open("ada");
    await go(`#/org/${id}/service-accounts`);
    await page.getByText("There are no service accounts.").waitFor();
    await page.getByRole("button", { name: "Create a service account" }).click();
    await dialog(page).getByLabel("Name").fill("Nightly build");
    await dialog(page).getByLabel("Role").selectOption("auditor");
    await dialog(page).getByRole("button", { name: "Create" }).click();
    await dialog(page).getByRole("button", { name: "I stored the key" }).click();
    await page.getByRole("region", { name: "Nightly build" }).waitFor();

    const posts = requestsOf(page, "POST", "/api-keys");
    await page.getByRole("button", { name: "Create a key" }).click();
    await dialog(page).getByLabel("Name").fill("Deploy");
    await dialog(page).getByRole("button", { name: "Create" }).dblclick();
    const first = (await key(page).textContent()) ?? "";
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

  // PT-70
  test("create a key with a role of its own in one step, which Escape does not lose", async () => {
    const id = await bed.organization("ada", "Restricted");
    const { page, go, complaints } = await bed.open("ada");
    await go(`#/org/${id}/keys`);
    await page.getByRole("button", { name: "One key that may only …" }).click();
    await dialog(page).getByLabel("Name").fill("Reader");
    await dialog(page).getByLabel("Role").selectOption("auditor");
    let failures = 1;
    await page.route("**/service-accounts/*/api-keys", (route) =>
      failures-- > 0 ? route.fulfill({ status: 409, json: {} }) : route.continue(),
    );
    await dialog(page).getByRole("button", { name: "Create" }).click();
    await dialog(page).getByRole("alert").waitFor();
    await dialog(page).getByText("The service account Reader exists now, with the role auditor.").waitFor();
    // The key would have the role of the account that exists, so no other role can be chosen.
    expect(await dialog(page).getByLabel("Role").count()).toBe(0);
    await dialog(page).getByRole("button", { name: "Create" }).click();
    const secret = (await key(page).textContent()) ?? "";
    // Browsers close a dialog at a second Escape in a row, also if the page prevented the first.
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Escape");
    await dialog(page).getByText("Nobody can show this key again.").waitFor();
    expect(await key(page).textContent()).toBe(secret);
    await dialog(page).getByRole("button", { name: "Close without the key" }).click();
    await page.getByRole("heading", { name: "Reader" }).waitFor();
    expect([await statusWith(secret, "/org/audit-events"), await statusWith(secret, "/org/usage")]).toEqual([
      200, 403,
    ]);
    const listed: unknown = await (await bed.callAsMember("ada", id, "GET", "/org/service-accounts")).json();
    expect(listed).toMatchObject({ service_accounts: [{ name: "Reader", role: "auditor" }] });
    expect(complaints.filter((complaint) => !complaint.includes("409"))).toEqual([]);
  });

  // PT-33
  test("say so when the browser does not copy a key", async () => {
    const id = await bed.organization("ada", "Uncopied");
    const { page, go } = await bed.open("ada");
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('denied'))");
    await go(`#/org/${id}/overview`);
    await page.getByRole("button", { name: "Copy the id" }).click();
    await page.getByText("Your browser did not copy it.").waitFor();
  });

  // PT-70
  test.each([
    ["a person", "#/my-keys", "/user"],
    ["a member", null, "/org"],
  ])("create a key of %s", async (_whose, fragment, path) => {
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
  test("do not create a key twice when a response is lost: they say so and read the list", async () => {
    const id = await bed.organization("ada", "Lost");
    const account = await serviceAccount(id, "Robot");
    const { page, go } = await bed.open("ada");
    await go(`#/org/${id}/service-accounts/${account}`);
    await page.getByText("There are no keys.").waitFor();
    const posts = requestsOf(page, "POST", "/api-keys");
    await page.route("**/api-keys", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      await route.fetch();
      return route.fulfill({ status: 503, body: "" });
    });
    await page.getByRole("button", { name: "Create a key" }).click();
    await dialog(page).getByLabel("Name").fill("Once");
    const create = dialog(page).getByRole("button", { name: "Create" });
    await create.click();
    await dialog(page).getByText("The change may have been made").waitFor();
    await dialog(page).getByText("If the list contains a new key, revoke that key").waitFor();
    await create.click({ force: true });
    await dialog(page).getByRole("button", { name: "Try again" }).click();
    await page.getByRole("row", { name: /Once/ }).getByRole("button", { name: "Revoke" }).waitFor();
    expect(posts).toHaveLength(1);
  });

  test("say so when a key is made after the person has left the dialog", async () => {
    const id = await bed.organization("ada", "Left");
    const { page, go } = await bed.open("ada");
    await go(`#/org/${id}/members`);
    await go(`#/org/${id}/keys`);
    const held = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    await page.route("**/member/api-keys", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      held.resolve();
      await released.promise;
      return route.continue();
    });
    await page.getByRole("button", { name: "Create a key" }).click();
    await dialog(page).getByLabel("Name").fill("Unseen");
    await dialog(page).getByRole("button", { name: "Create" }).click();
    await held.promise;
    await page.goBack();
    await dialog(page).waitFor({ state: "detached" });
    released.resolve();
    await page
      .getByRole("status", { name: "Status messages" })
      .getByText("The key Unseen was made, but you left before the page could show it.")
      .waitFor();
  });
});
