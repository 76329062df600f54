/** Tests of the portal's pages for organizations and invitations, in a browser. */
import { describe, expect, test } from "bun:test";
import { Membership } from "@ostiary/lib/contracts/identity-api";
import { pageSchema } from "@ostiary/lib/runtime/http";
import { Value } from "@sinclair/typebox/value";
import type { Page, Route } from "playwright-core";
import { browserPath } from "../../../support/pages/swagger-page.ts";
import { idOf, refuse, requestsOf, signIn, textOf, usePortal } from "./bed.ts";

const Memberships = pageSchema("memberships", Membership);

describe.skipIf(browserPath === undefined)("a customer in the portal", () => {
  const bed = usePortal();

  const expectNothingRan = async (page: Page) => {
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(await page.locator("main img, script:not([src])").count()).toBe(0);
  };
  const create = async (page: Page, name: string) => {
    await page.getByLabel("Name").fill(name);
    await page.getByRole("button", { name: "Create an organization" }).click();
  };
  const opened = (page: Page) => page.getByRole("heading", { name: "Overview" }).waitFor();
  const namesOf = async (person: string): Promise<string[]> => {
    const listed = await bed.call(person, "GET", "/user/memberships");
    const { memberships } = Value.Decode(Memberships, await listed.json());
    return memberships.map(({ organization }) => organization.name);
  };

  // PT-20, PT-23
  test("creates an organization, and sees it with the customer's role and its permissions", async () => {
    const { page, complaints } = await bed.open("creates");
    await page.getByText("You are in no organization yet.").waitFor();
    await create(page, "  Analytical Engines  ");
    await opened(page);
    const notice = page
      .getByRole("status", { name: "Status messages" })
      .getByText("Analytical Engines was created.");
    expect((await notice.boundingBox())?.width).toBeGreaterThan(100);
    await page.getByText("owner", { exact: true }).waitFor();
    await page.getByText("Everything").waitFor();
    expect(await namesOf("creates")).toEqual(["Analytical Engines"]);
    expect(complaints).toEqual([]);
  });

  // PT-20, PT-21
  test("opens several organizations, with one session for each", async () => {
    const [first, second] = [
      await bed.organization("chooses", "First"),
      await bed.organization("chooses", "Second"),
    ];
    const { page } = await bed.open("chooses");
    const sessions = [first, second].map((id) =>
      requestsOf(page, "POST", `/user/organizations/${id}/session`),
    );
    await page.getByRole("link", { name: "First" }).click();
    await opened(page);
    await page.getByRole("definition").getByText("First").waitFor();
    await page.getByRole("link", { name: "Organizations" }).click();
    await page.getByRole("link", { name: "Second" }).click();
    await page.getByRole("definition").getByText("Second").waitFor();
    expect(new URL(page.url()).hash).toBe(`#/org/${second}/overview`);
    expect(sessions.map((seen) => seen.length)).toEqual([1, 1]);
  });

  // PT-21
  test("gets a new session when the old one is refused", async () => {
    const id = await bed.organization("renews", "Renewed");
    const { page, go } = await bed.open("renews");
    const minted = requestsOf(page, "POST", `/user/organizations/${id}/session`);
    let refusals = 1;
    await page.route("**/org", async (route) => (refusals-- > 0 ? refuse(route) : route.continue()));
    await go(`#/org/${id}/overview`);
    await page.getByRole("definition").getByText("Renewed").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(minted).toHaveLength(2);
  });

  // PT-11, PT-16, PT-21
  test("opens no further session by a reload, and leaves none in the tab after signing out", async () => {
    const id = await bed.organization("reloads", "Reloaded");
    const { page, go } = await bed.open("reloads");
    const minted = requestsOf(page, "POST", `/user/organizations/${id}/session`);
    await go(`#/org/${id}/settings`);
    await page.getByRole("button", { name: "Save the name" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Save the name" }).waitFor();
    expect(minted).toHaveLength(1);
    const kept = () => page.evaluate("JSON.stringify({ ...sessionStorage })");
    expect(await kept()).toContain("ostiary-s-");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await kept()).not.toContain("ostiary-s-");
  });

  // PT-15, PT-21
  test("is signed out, and sends nothing, when the tab slept for two hours", async () => {
    const id = await bed.organization("sleeps", "Asleep");
    const { page, go } = await bed.open("sleeps");
    await go(`#/org/${id}/settings`);
    await page.getByRole("button", { name: "Save the name" }).waitFor();
    const sent = requestsOf(page, "PATCH", "/org");
    await page.clock.install();
    await page.clock.fastForward("02:00:00");
    await page.getByLabel("Name").fill("Awake");
    await page.getByRole("button", { name: "Save the name" }).click();
    await page.getByText("You are signed out").waitFor();
    await page.getByRole("button", { name: "Sign in again" }).waitFor();
    expect([sent.length, await namesOf("sleeps")]).toEqual([0, ["Asleep"]]);
  });

  // PT-23, PT-31
  test("renames the organization, but not to an empty name", async () => {
    const id = await bed.organization("renames", "Before");
    const { page, go } = await bed.open("renames");
    await go(`#/org/${id}/settings`);
    await page.getByLabel("Name").fill("After");
    await page.getByRole("button", { name: "Save the name" }).click();
    await page
      .getByRole("combobox", { name: "Organization" })
      .getByText("After")
      .waitFor({ state: "attached" });
    await page.getByLabel("Name").fill(" ");
    await page.getByRole("button", { name: "Save the name" }).click();
    await page.getByText("Enter some text.").waitFor();
    expect(await namesOf("renames")).toEqual(["After"]);
  });

  // PT-23
  test("sees members, open invitations, keys that end soon, usage and the last events on the overview", async () => {
    const id = await bed.organization("oversees", "Overseen");
    await bed.joined("oversees", id, "overseen", "viewer");
    await bed.callAsMember("oversees", id, "POST", "/org/invites", {});
    await bed.callAsMember("oversees", id, "POST", "/member/api-keys", { expires_in_seconds: 86_400 });
    const { page, go, complaints } = await bed.open("oversees");
    await go(`#/org/${id}/overview`);
    for (const tile of ["2 members", "1 open invitation", "1 key that ends within 30 days"])
      await page.getByRole("link", { name: tile }).waitFor();
    await page.getByRole("region", { name: "This month" }).waitFor();
    const last = page.getByRole("region", { name: "Last events" });
    await last.getByText("created an API key").waitFor();
    await last.getByText("Not yet verified in this browser").waitFor();
    await last.getByRole("link", { name: "Verify the log" }).click();
    await page.getByRole("button", { name: "Verify now" }).click();
    await page.getByText(/complete and unaltered/).waitFor();
    await go(`#/org/${id}/overview`);
    await last.getByText("Verified in this browser up to").waitFor();
    expect(complaints).toEqual([]);
    const machines = await bed.organization("oversees", "Machines");
    const post = (path: string, body: object) => bed.callAsMember("oversees", machines, "POST", path, body);
    const account = idOf(await (await post("/org/service-accounts", { name: "Robot" })).json());
    await post(`/org/service-accounts/${account}/api-keys`, { expires_in_seconds: 86_400 });
    await go(`#/org/${machines}/overview`);
    await page.getByRole("link", { name: "1 key that ends within 30 days" }).click();
    await page.getByRole("heading", { name: "Robot" }).waitFor();
    const other = await bed.open("overseen");
    await other.go(`#/org/${id}/overview`);
    await other.page.getByRole("link", { name: "2 members" }).waitFor();
    expect(await other.page.getByRole("link", { name: /invitations/ }).count()).toBe(0);
    expect(await other.page.getByRole("region", { name: "Last events" }).count()).toBe(0);
    expect(await other.page.getByRole("alert").count()).toBe(0);
  });

  // PT-23
  test("deletes the organization only after typing its name", async () => {
    const id = await bed.organization("deletes", "<b>Short</b>-lived");
    const { page, go } = await bed.open("deletes");
    await go(`#/org/${id}/settings`);
    await page.getByRole("button", { name: "Delete the organization" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete <b>Short</b>-lived?" });
    const confirm = dialog.getByRole("button", { name: "Delete the organization" });
    await dialog.getByText("all sessions and keys of the organization stop working").waitFor();
    await dialog.getByRole("textbox").fill("Short-lived");
    await confirm.click();
    await dialog.getByText("Type the name of the organization first.").waitFor();
    expect(await namesOf("deletes")).toEqual(["<b>Short</b>-lived"]);
    await dialog.getByRole("textbox").fill("<b>Short</b>-lived");
    await confirm.click();
    await page.getByText("You are in no organization yet.").waitFor();
    expect(await namesOf("deletes")).toEqual([]);
  });

  test("stays in the organization that was opened during a change of another one, and sees how the change ended", async () => {
    const name = "leaves";
    const [ending, staying] = [
      await bed.organization(name, "Ending"),
      await bed.organization(name, "Staying"),
    ];
    const { page, go } = await bed.open(name);
    /** Deletes the organization, and opens the other one before the gateway gets the request. */
    async function leaveDeletion(settle: (route: Route) => Promise<void>): Promise<() => void> {
      const held = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      await page.route("**/org", async (route) => {
        if (route.request().method() !== "DELETE") return route.continue();
        held.resolve();
        await released.promise;
        await page.unroute("**/org");
        await settle(route);
      });
      await go(`#/org/${ending}/settings`);
      await page.getByRole("button", { name: "Delete the organization" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("textbox").fill("Ending");
      await dialog.getByRole("button", { name: "Delete the organization" }).click();
      await held.promise;
      await go(`#/org/${staying}/settings`);
      await page.getByLabel("Name", { exact: true }).fill("Half a name");
      return released.resolve;
    }
    const status = page.getByRole("status", { name: "Status messages" });
    const error = {
      type: "invalid_request_error",
      code: "NOT_FOUND",
      message: "Resource not found.",
      request_id: "1",
      details: null,
    };

    const fail = await leaveDeletion((route) => route.fulfill({ status: 404, json: { error } }));
    fail();
    await status.getByText("The change that you left failed: Not found.").waitFor();

    const succeed = await leaveDeletion((route) => route.continue());
    succeed();
    await status.getByText("The organization was deleted.").waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Half a name");
    expect(await page.evaluate("location.hash")).toBe(`#/org/${staying}/settings`);
    await page.getByRole("option", { name: "Ending" }).waitFor({ state: "detached" });
    expect(await namesOf(name)).toEqual(["Staying"]);
  });

  // PT-74
  test("gets the name of the identity provider with one click, and changes it under My profile", async () => {
    const nameOf = async () =>
      textOf(await (await bed.call("Ada <i>King</i>", "GET", "/user")).json(), "display_name");
    const { page } = await bed.open("Ada <i>King</i>");
    await page.getByText("Use “Ada <i>King</i>” as your name?").waitFor();
    await page.getByRole("button", { name: "Use this name" }).click();
    await page.getByRole("button", { name: "Use this name" }).waitFor({ state: "detached" });
    expect(await nameOf()).toBe("Ada <i>King</i>");
    await page.getByRole("link", { name: "My profile" }).click();
    await page.getByLabel("Your name").fill("\u200b");
    await page.getByRole("button", { name: "Save the name" }).click();
    await page.getByText("invisible control characters").waitFor();
    await page.getByLabel("Your name").fill("Countess");
    await page.getByRole("button", { name: "Save the name" }).click();
    await page.getByText("Signed in as Countess").waitFor();
    expect(await nameOf()).toBe("Countess");
    await expectNothingRan(page);
  });

  // PT-22
  test("accepts an invitation by its link, whose token is then in no URL, header or storage", async () => {
    const id = await bed.organization("invites", "Inviting");
    const invite = { role: "viewer", max_uses: 5 };
    const made = await bed.callAsMember("invites", id, "POST", "/org/invites", invite);
    const token = textOf(await made.json(), "token");
    const { page } = await bed.visit({ path: `/portal/invite?#${token}` });
    const seen: string[] = [];
    page.on("request", (request) => seen.push(request.url() + JSON.stringify(request.headers())));
    await page.getByText("You have an invitation.").waitFor();
    expect(page.url()).toBe(`${bed.gatewayUrl}/portal#/invite`);
    await signIn(page, "invited");
    await page.getByRole("heading", { name: "You are invited to Inviting" }).waitFor();
    await page.getByText("You join with the role viewer.").waitFor();
    await page.getByRole("button", { name: "Join the organization" }).click();
    await opened(page);
    await page.getByRole("definition").getByText("Inviting").waitFor();
    await page.getByText("viewer", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByText("Your role allows no change here.").waitFor();
    expect(await page.getByRole("button", { name: "Save the name" }).count()).toBe(0);
    expect(seen.filter((text) => text.includes(token))).toEqual([]);
    expect(
      await page.evaluate("JSON.stringify([{ ...sessionStorage }, location.href, history.state])"),
    ).not.toContain(token);
    for (const mark of ["#", "%23"]) {
      await page.goto(`${bed.gatewayUrl}/portal/invite?${mark}${token}`);
      await opened(page);
      expect(page.url()).toBe(`${bed.gatewayUrl}/portal#/org/${id}/overview`);
    }
  });

  // PT-22
  test("sees that a hostile invitation was not found, and can paste another link, also after a link without its token", async () => {
    const { page, complaints } = await bed.visit({
      path: "/portal/invite?#%22%3E%3Cimg%20src=x%20onerror=window.ran=1%3E",
    });
    await signIn(page, "uninvited");
    await page.getByRole("alert").getByText("This invitation was not found.").waitFor();
    await page.getByLabel("Link or token of the invitation").waitFor();
    await page.goto(`${bed.gatewayUrl}/portal/invite`);
    await page.getByText("Paste the link that you got.").waitFor();
    await expectNothingRan(page);
    expect(complaints).toEqual([]);
  });

  // PT-22
  test("can paste the link of an invitation, and sees that it was revoked", async () => {
    const id = await bed.organization("revokes", "Revoking");
    const made = await (await bed.callAsMember("revokes", id, "POST", "/org/invites", {})).json();
    await bed.callAsMember("revokes", id, "DELETE", `/org/invites/${textOf(made, "id")}`);
    const { page, go } = await bed.open("late");
    await go("#/invite");
    await page
      .getByLabel("Link or token of the invitation")
      .fill(`<https://api.example.com/portal/invite?=23${textOf(made, "token")}>`);
    await page.getByRole("button", { name: "Look at the invitation" }).click();
    await page.getByRole("alert").getByText("The invitation to Revoking was revoked.").waitFor();
    expect(await page.getByRole("button", { name: "Join the organization" }).count()).toBe(0);
    await page.getByRole("button", { name: "Discard the invitation" }).click();
    await page.getByRole("heading", { name: "Organizations" }).waitFor();
    expect(await namesOf("late")).toEqual([]);
  });

  // PT-30
  test("is served after a short rate limit without another click, and sees when a longer one ends", async () => {
    const { page, go } = await bed.open("limited");
    await page.getByText("You are in no organization yet.").waitFor();
    let calls = 0;
    await page.route("**/user/memberships*", async (route) => {
      calls += 1;
      if (calls > 1) return route.continue();
      const headers = { "Retry-After": "60", "X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0" };
      return route.fulfill({ status: 429, headers, json: {} });
    });
    await page.clock.install();
    await go("#/invite");
    await go("#/organizations");
    await page.getByText(/The page continues by itself in \d+ second/).waitFor();
    await page.getByText("The limit is 60 requests; 0 are left.").waitFor();
    expect(calls).toBe(1);
    await page.clock.fastForward("01:00");
    await page.getByText("You are in no organization yet.").waitFor();
    expect(calls).toBe(2);
    await page.unroute("**/user/memberships*");
    await page.route("**/user/memberships*", (route) =>
      route.fulfill({ status: 429, headers: { "Retry-After": "7200" }, json: {} }),
    );
    await go("#/invite");
    await go("#/organizations");
    await page.getByRole("alert").getByText("Try again in 2 hours.").waitFor();
  });

  // PT-6
  test("gets German if the browser prefers it, and can choose English", async () => {
    const { page } = await bed.visit({ locale: "de-AT" });
    await page.getByRole("heading", { name: "Anmelden" }).waitFor();
    expect(await page.evaluate("document.documentElement.lang")).toBe("de");
    await signIn(page, "german");
    await page.getByRole("heading", { name: "Organisationen" }).waitFor();
    await page.getByLabel("Sprache").selectOption("English");
    await page.getByRole("heading", { name: "Organizations" }).waitFor();
    const { page: other } = await bed.visit({ locale: "fr-FR" });
    await other.getByRole("heading", { name: "Sign in" }).waitFor();
  });
});
