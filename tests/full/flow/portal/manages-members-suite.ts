/** Tests of the portal's pages for members, roles and invitations, in a browser. */
import { describe, expect, test } from "bun:test";
import { isRecord } from "@ostiary/lib/domain/json";
import { browserPath } from "../../../support/pages/swagger-page.ts";
import { requestsOf, textOf, usePortal } from "./bed.ts";

const HOSTILE = `<img src=x onerror="window.ran=1">`;

describe.skipIf(browserPath === undefined)("the portal's pages for members", () => {
  const bed = usePortal();

  const joined = (organization_id: string, name: string, role?: string) =>
    bed.joined("ada", organization_id, name, role);

  const memberOf = async (organization_id: string, member_id: string): Promise<unknown> =>
    (await bed.callAsMember("ada", organization_id, "GET", `/org/members/${member_id}`)).json();

  // PT-66
  test("list and find members, and show what the role of each allows", async () => {
    const id = await bed.organization("ada", "Engines");
    const grace = await joined(id, "grace", "admin");
    await bed.callAsMember("ada", id, "PATCH", `/org/members/${grace}`, { display_name: "Grace Hopper" });
    await joined(id, "alan");
    const { page, go, complaints } = await bed.open("ada");
    await go(`#/org/${id}/members`);
    const rows = page.getByRole("table", { name: "Members" }).getByRole("row");
    await rows.nth(3).waitFor();
    await page.getByLabel("Search by name, role or id").fill("hopper admin");
    await page.getByText("1 of 3 match.").waitFor();
    await page.getByRole("link", { name: "Grace Hopper" }).click();
    const shown = page.getByRole("region", { name: "Grace Hopper" });
    await shown.getByText("Invite, change and remove members, and give any role, including owner").waitFor();
    await shown.getByText("things:write").waitFor();
    expect(complaints).toEqual([]);
  });

  // PT-33, PT-39, PT-66
  test("show 1 000 members on demand, search them, and keep their layout with long, right-to-left and combining names", async () => {
    const id = await bed.organization("ada", "Crowd");
    const listed: unknown = await (await bed.callAsMember("ada", id, "GET", "/org/members")).json();
    const [ada] = isRecord(listed) && Array.isArray(listed.members) ? listed.members : [];
    const names = [
      "W".repeat(1_000),
      `\u202e${"א".repeat(300)}`,
      `e${"\u0301".repeat(300)}`,
      `${HOSTILE}\u0000`,
    ];
    const members = Array.from({ length: 1_000 }, (_, each) => ({
      ...Object(ada),
      id: `01K${String(each).padStart(23, "0")}`,
      display_name: names[each] ?? `Member ${each}`,
    }));
    const { page, go, complaints } = await bed.open("ada", {
      viewport: { width: 360, height: 800 },
    });
    await page.route("**/org/members?*", (route) => {
      const after = new URL(route.request().url()).searchParams.get("starting_after");
      const from = members.findIndex((member) => member.id === after) + 1;
      const pageMembers = members.slice(from, from + 100);
      return route.fulfill({ json: { members: pageMembers, has_more: from + 100 < members.length } });
    });
    await go(`#/org/${id}/members`);
    await page.getByText("WWWW").first().waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    const rows = page.getByRole("row");
    expect(await rows.count()).toBe(1 + 100);
    await page.getByRole("button", { name: "Show more" }).click();
    await rows.nth(200).waitFor();
    const search = page.getByLabel("Search by name, role or id");
    await search.fill("member");
    await page.getByText("996 of 1,000 match.").waitFor();
    expect(await rows.count()).toBe(1 + 100);
    await search.fill("member 999");
    await page.getByText("1 of 1,000 match.").waitFor();
    await page.getByRole("link", { name: "Member 999" }).waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  // PT-66
  test("change the role of a member, and suspend, reactivate and remove a member", async () => {
    const id = await bed.organization("ada", "Roles");
    const grace = await joined(id, "grace");
    const { page, go } = await bed.open("ada");
    await go(`#/org/${id}/members/${grace}`);
    await page.getByLabel("Role of this member").selectOption("auditor");
    await page.getByText("With the role auditor this member may do the following:").waitFor();
    await page.getByText("Read, export and verify the audit log").waitFor();
    await page.getByRole("button", { name: "Change the role" }).click();
    await page
      .getByRole("status", { name: "Status messages" })
      .getByText("has the role auditor now")
      .waitFor();
    expect(await memberOf(id, grace)).toMatchObject({ role: "auditor" });
    for (const [action, status] of [
      ["Suspend", "suspended"],
      ["Reactivate", "active"],
      ["Remove", "removed"],
    ] as const) {
      await page.getByRole("button", { name: action }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("button", { name: action }).click();
      await dialog.waitFor({ state: "detached" });
      expect(await memberOf(id, grace)).toMatchObject({ status });
    }
    await page.getByText("This member was removed.").waitFor();
  });

  // PT-67
  test("say why the last member and the last owner must stay", async () => {
    const id = await bed.organization("ada", "Last");
    const { page, go } = await bed.open("ada", { locale: "de-DE" });
    const session = await bed.call("ada", "POST", `/user/organizations/${id}/session`, {});
    const own = textOf(await session.json(), "member_id");
    await go(`#/org/${id}/members/${own}`);
    await page.getByRole("button", { name: "Die Organisation verlassen" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Die Organisation verlassen" }).click();
    await dialog.getByText("Das letzte Mitglied").waitFor();
    await dialog.getByRole("button", { name: "Abbrechen" }).click();
    await page.getByLabel("Rolle dieses Mitglieds").selectOption("viewer");
    await page.getByRole("button", { name: "Rolle ändern" }).click();
    await page.getByText("Das letzte Mitglied").waitFor();
    expect(await memberOf(id, own)).toMatchObject({ role: "owner", status: "active" });
  });

  // PT-68
  test("create one invitation, copy its link, and revoke it", async () => {
    const id = await bed.organization("ada", "Invited");
    const { page, go } = await bed.open("ada", {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await go(`#/org/${id}/invites`);
    await page.getByText("There are no invitations.").waitFor();
    const posts = requestsOf(page, "POST", "/org/");
    await page.getByRole("button", { name: "Invite a person" }).click();
    const dialog = page.getByRole("dialog", { name: "Invite a person" });
    await dialog.getByLabel("E-mail address (optional)").fill("grace@example.com");
    await dialog.getByLabel("Role").selectOption("auditor");
    await dialog.getByRole("button", { name: "Create the invitation" }).dblclick();
    const link = page.getByRole("figure", { name: "Link of the invitation" });
    await link.getByRole("button", { name: "Copy the link" }).click();
    const copied: string = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toStartWith(`${bed.gatewayUrl}/portal/invite?#inv_`);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").getByText("Nobody can show this link again.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "I copied the link" }).click();
    expect(posts).toHaveLength(1);
    const row = page.getByRole("row", { name: /grace@example\.com/ });
    await row.getByText("0 of 1").waitFor();
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    // An invitation that has ended has no address any more.
    await page.getByRole("row", { name: "revoked" }).waitFor();
    await row.waitFor({ state: "detached" });
    const token = decodeURIComponent(copied.split("#")[1] ?? "");
    expect((await bed.call("grace", "POST", "/user/invites/redeem", { token })).status).toBe(409);
  });

  // PT-20, PT-66
  test("hide what the role does not allow, and show only the refusal", async () => {
    const id = await bed.organization("ada", "Viewers");
    const grace = await joined(id, "grace", "viewer");
    await bed.call("grace", "PATCH", "/user", { display_name: "Grace" });
    const { page, go } = await bed.open("grace");
    await go(`#/org/${id}/members/${grace}`);
    await page.getByRole("button", { name: "Leave the organization" }).waitFor();
    expect(await page.getByRole("button", { name: "Change the role" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Invitations" }).count()).toBe(0);
    for (const view of ["invites", "usage", "audit"]) {
      await go(`#/org/${id}/${view}`);
      const main = page.getByRole("main");
      await main.getByText("Your role does not allow this").waitFor();
      expect({ view, controls: await main.locator("button, input, select").count() }).toEqual({
        view,
        controls: 0,
      });
    }
  });
});
