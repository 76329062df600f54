/**
 * Tests of the portal's audit log pages, where the log is listed, filtered, exported and verified, in a
 * browser.
 */
import { describe, expect, test } from "bun:test";
import { proofEndSchema } from "@ostiary/lib/contracts/audit";
import { fits } from "@ostiary/lib/domain/errors";
import { parseJson } from "@ostiary/lib/domain/json";
import type { Page } from "playwright-core";
import { type TestWitness, testWitness } from "../../../support/audit/test-log.ts";
import { browserPath, PAGE_TIMEOUT_MS } from "../../../support/pages/swagger-page.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { signIn, textOf, usePortal } from "./bed.ts";

const COMPLETE = /^(All \d+ events|The 1 event).* complete and unaltered\.$/;

describe.skipIf(browserPath === undefined)("the audit log in the portal", () => {
  const bed = usePortal();

  /** Creates an organization and changes its name `changes` times. Each change is audited. */
  async function changed(title: string, changes: number): Promise<string> {
    const id = await bed.organization("ada", title);
    for (let n = 0; n < changes; n++) {
      const response = await bed.callAsMember("ada", id, "PATCH", "/org", { name: `${title} ${n}` });
      expect(response.status).toBe(200);
    }
    return id;
  }

  async function verify(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Verify now" }).click();
  }

  const verdict = (page: Page) => page.getByRole("alert", { name: "Result of the verification" });

  /** Changes the lines of each export with proof on its way to the page. */
  async function tamper(page: Page, change: (lines: string[]) => string[]): Promise<void> {
    await page.context().route("**/export?format=ndjson&proof=true*", async (route) => {
      const response = await route.fetch();
      const lines = (await response.text()).trimEnd().split("\n");
      await route.fulfill({ response, body: `${change(lines).join("\n")}\n` });
    });
  }

  // PT-60
  test("lists events, has its filters in the URL, and shows an event in full", async () => {
    const id = await changed("Engines", 3);
    const { page, go, complaints } = await bed.open("ada");
    await go(`#/org/${id}/audit?route=%2Forg&method=PATCH`);
    const rows = page.getByRole("table", { name: "Events" }).getByRole("row");
    await rows.nth(3).waitFor();
    expect(await rows.count()).toBe(4);
    await rows.getByRole("link", { name: "renamed the organization" }).first().waitFor();
    await page.getByRole("button", { name: "More filters" }).click();
    await page.getByLabel("Method").selectOption("DELETE");
    await page.getByRole("button", { name: "Show events" }).click();
    await page.getByText("No event matches.").waitFor();
    expect(page.url()).toEndWith(`#/org/${id}/audit?method=DELETE&route=%2Forg`);
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByLabel("Action").selectOption({ label: "renamed the organization" });
    await rows.nth(3).waitFor();
    expect(page.url()).toEndWith(`#/org/${id}/audit?method=PATCH&route=%2Forg`);
    await page
      .getByRole("row", { name: /PATCH \/org/ })
      .first()
      .getByRole("link", { name: "renamed the organization" })
      .click();
    const event = page.getByRole("region", { name: "Event" });
    await event.getByRole("heading", { name: "renamed the organization" }).waitFor();
    await event.getByText("PATCH /org").waitFor();
    await event.getByText(/"Engines 2"/).waitFor();
    await event.getByRole("link", { name: "What did this member do?" }).click();
    await rows.nth(1).waitFor();
    expect(page.url()).toContain("actor_member_id=");
    expect(complaints).toEqual([]);
  });

  // PT-74, PT-75
  test("says who did what: members, service accounts and removed members by name, and an attempt as one", async () => {
    const id = await bed.organization("ada", "Named");
    await bed.callAsMember("ada", id, "PATCH", "/member", { display_name: `<b>Ada</b>\u202e` });
    const grace = await bed.joined("ada", id, "grace", "admin");
    await bed.callAsMember("ada", id, "PATCH", `/org/members/${grace}`, { display_name: "Grace Hopper" });
    await bed.callAsMember("grace", id, "POST", "/org/invites", {});
    await bed.joined("ada", id, "nameless", "viewer");
    await bed.callAsMember("nameless", id, "PATCH", "/org", { name: "Mine" });
    await bed.callAsMember("ada", id, "DELETE", `/org/members/${grace}`);
    const { page, go, complaints } = await bed.open("ada");
    await go(`#/org/${id}/audit`);
    const row = (who: RegExp, what: string) =>
      page
        .getByRole("table", { name: "Events" })
        .getByRole("row")
        .filter({ hasText: who })
        .filter({ hasText: what });
    await row(/Grace Hopper/, "created an invitation").waitFor();
    await row(/<b>Ada<\/b>/, "removed a member").waitFor();
    await row(/Member …\w{5}/, "tried to rename the organization")
      .getByText("refused (403)")
      .waitFor();
    await page.getByLabel("Person").selectOption({ label: "Grace Hopper" });
    await page.waitForURL(`**actor_member_id=${grace}`);
    await row(/<b>Ada<\/b>/, "removed a member").waitFor({ state: "detached" });
    await row(/Grace Hopper/, "created an invitation").waitFor();
    expect(complaints).toEqual([]);
  });

  // PT-60
  test("uses the customer's time zone in the list and in the filters", async () => {
    const id = await changed("Zoned", 1);
    const listed = await bed.callAsMember("ada", id, "GET", "/org/audit-events?method=PATCH");
    const events: unknown = Reflect.get(Object(await listed.json()), "audit_events");
    const [event] = Array.isArray(events) ? events : [];
    const at = new Date(textOf(event, "occurred_at"));
    const { page, go } = await bed.open("ada", { timezoneId: "Asia/Kolkata" });
    await go(`#/org/${id}/audit?method=PATCH`);
    const format = { dateStyle: "medium", timeStyle: "long", timeZone: "Asia/Kolkata" } as const;
    await page.getByText(new Intl.DateTimeFormat("en-GB", format).format(at)).waitFor();
    await page.getByLabel("From", { exact: true }).fill("2026-01-01T00:00");
    await page.getByRole("button", { name: "Show events" }).click();
    await waitFor(() => page.url().includes("occurred_after=2025-12-31T18%3A30%3A00.000Z"));
  });

  // PT-61
  test("exports the complete log as a file", async () => {
    const id = await changed("Exported", 2);
    const { page, go } = await bed.open("ada");
    await go(`#/org/${id}/audit`);
    await page.getByRole("button", { name: "Export …" }).click();
    const dialog = page.getByRole("dialog", { name: "Export the audit log" });
    await dialog.getByLabel("Format").selectOption("ndjson");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      dialog.getByRole("button", { name: "Export" }).click(),
    ]);
    const lines = (await Bun.file(await download.path()).text()).trimEnd().split("\n");
    expect(lines.map((line) => Reflect.get(Object(parseJson(line)), "route"))).toContain("/org");
    await dialog.waitFor({ state: "detached" });
  });

  // PT-61
  test("saves nothing when the connection closes in the middle of an export", async () => {
    const id = await changed("Halved", 1);
    const { promise: begun, resolve: begin } = Promise.withResolvers<Bun.Socket>();
    const half = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          const head = [
            "HTTP/1.1 200 OK",
            "Content-Type: text/csv",
            "Content-Length: 100000",
            `Access-Control-Allow-Origin: *`,
          ];
          socket.write(`${head.join("\r\n")}\r\n\r\n${"id,occurred_at\n".repeat(100)}`);
          begin(socket);
        },
      },
    });
    const { page, go } = await bed.open("ada");
    const saved: unknown[] = [];
    page.on("download", (download) => saved.push(download));
    await page.route("**/export?format=csv*", (route) =>
      route.continue({ url: `http://127.0.0.1:${half.port}/` }),
    );
    await go(`#/org/${id}/audit`);
    await page.getByRole("button", { name: "Export …" }).click();
    const dialog = page.getByRole("dialog", { name: "Export the audit log" });
    await dialog.getByRole("button", { name: "Export" }).click();
    await dialog.getByText("2 KiB so far.").waitFor();
    (await begun).end();
    await dialog.getByText("The export is not complete, and nothing was saved").waitFor();
    expect(saved).toEqual([]);
    half.stop(true);
  });

  // PT-62, PT-63, PT-64
  test("is verified in the browser, also against a root that was saved earlier", async () => {
    const id = await changed("Sealed", 3);
    const { page, go, complaints, forbiddenUrls } = await bed.open("ada");
    await go(`#/org/${id}/audit`);
    await page.getByRole("link", { name: "Verify the log" }).click();
    await verify(page);
    await verdict(page).getByText(COMPLETE).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: /^Save root/ }).click(),
    ]);
    const kept = await download.path();
    await bed.callAsMember("ada", id, "PATCH", "/org", { name: "Sealed again" });
    await page.getByLabel("An earlier copy, if you kept one").setInputFiles(kept);
    const before = await verdict(page).textContent();
    await verify(page);
    await waitFor(async () => (await verdict(page).textContent()) !== before, {
      timeoutMs: PAGE_TIMEOUT_MS / 4,
    });
    await verdict(page).getByText(COMPLETE).waitFor();
    expect([complaints, forbiddenUrls]).toEqual([[], []]);
  });

  // PT-62
  test("is altered when the export is of another organization, also an empty one", async () => {
    const [id, other] = [await changed("One", 1), await changed("Two", 1)];
    const path = "/org/audit-events/export?format=ndjson&proof=true";
    const whole = await (await bed.callAsMember("ada", other, "GET", path)).text();
    const { page, go } = await bed.open("ada");
    for (const lines of [whole.trimEnd().split("\n"), whole.trimEnd().split("\n").slice(-1)]) {
      let exports = 0;
      await tamper(page, () => {
        exports += 1;
        return lines;
      });
      await go(`#/org/${id}/audit/verify`);
      // Two clicks before the page shows that it is busy start one verification.
      const start = page.getByRole("button", { name: "Verify now" });
      await start.evaluate((button) => [1, 2].map(() => Reflect.get(button, "click").call(button)));
      await verdict(page).getByText("The log differs from what was sealed.").waitFor();
      const [first] = await verdict(page).getByRole("listitem").allTextContents();
      expect(first).toContain(`the log of another owner. Expected: organization:${id}.`);
      expect(exports).toBe(1);
      await go(`#/org/${id}/audit`);
      await verdict(page).waitFor({ state: "detached" });
    }
  });

  // PT-62
  test("is not accepted when an event is changed, or when the export is unreadable", async () => {
    const id = await changed("Changed", 3);
    const { page, go } = await bed.open("ada");
    const tried: [what: string, change: (lines: string[]) => string[]][] = [
      [
        "The entry is not what was sealed",
        (lines) => lines.map((line) => line.replace('"Changed 1"', '"Altered 1"')),
      ],
      ["This line is not what the format allows here", () => ["<p>Sorry</p>"]],
    ];
    for (const [what, change] of tried) {
      await tamper(page, change);
      await go(`#/org/${id}/audit/verify`);
      await verify(page);
      await verdict(page).getByText("The log differs from what was sealed.").waitFor();
      const all = await verdict(page).getByRole("listitem").allTextContents();
      expect(all.join()).toContain(what);
      expect(await page.getByRole("button", { name: /^Save root/ }).count()).toBe(0);
      // Leaves the page, so that the next verification does not show this verdict.
      await go(`#/org/${id}/audit`);
      await verdict(page).waitFor({ state: "detached" });
    }
  });

  /** Adds to the settings of the page that one of these witnesses must have cosigned a log. */
  async function requireWitness(page: Page, keys: string[]): Promise<void> {
    const witnesses = { keys, quorum: 1, origin: "ostiary/audit-log" };
    // The page's script runs after its document is interactive.
    await page.addInitScript(`document.addEventListener("readystatechange", () => {
      const place = document.querySelector("#portal");
      if (document.readyState !== "interactive" || place === null) return;
      const settings = { ...JSON.parse(place.dataset.settings), witnesses: ${JSON.stringify(witnesses)} };
      place.dataset.settings = JSON.stringify(settings);
    })`);
    await page.reload();
  }

  /** Adds to the last line of an export a root that the witness cosigned. */
  function cosigned(lines: string[], witness: TestWitness): string[] {
    const end: unknown = parseJson(lines.at(-1) ?? "");
    if (!fits(proofEndSchema, end) || end.note === null) throw new Error("The export has no signed root.");
    const text = end.note.slice(0, end.note.indexOf("\n\n") + 1);
    const note = end.note + witness.line(text, Math.floor(Date.now() / 1_000));
    return lines.with(-1, JSON.stringify({ ...end, cosigned: { note, consistency: [] } }));
  }

  // PT-71, PT-72, PT-73
  test("names the witnesses that cosigned it, and says if there are too few", async () => {
    const [one, two] = [testWitness("<i>one</i>.example.com"), testWitness("two.example.com")];
    const id = await changed("Seen", 2);
    const { page, go, complaints } = await bed.visit();
    await requireWitness(page, [one.key, two.key]);
    await signIn(page, "ada");
    await go(`#/org/${id}/audit/verify`);
    await verify(page);
    await verdict(page)
      .getByText(/^Undecided:/)
      .waitFor();
    await verdict(page).getByText("Too few witnesses cosigned a tree that has this export").waitFor();
    expect(await verdict(page).getByText("Seen by").count()).toBe(0);
    await tamper(page, (lines) => cosigned(lines, one));
    await verify(page);
    await verdict(page).getByText(COMPLETE).waitFor();
    await verdict(page).getByText("Seen by 1 witness: <i>one</i>.example.com.", { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });
});
