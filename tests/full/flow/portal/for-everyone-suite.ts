/**
 * Tests the accessibility of every view and dialog: with axe, on small screens and with only the keyboard.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import { browserPath, PAGE_TIMEOUT_MS } from "../../../support/pages/swagger-page.ts";
import { violationsOn } from "../../../support/pages/watched-page.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { signIn, textOf, usePortal } from "./bed.ts";
import { type Stop, walk } from "./walk.ts";

/**
 * The languages, color schemes and widths of each test. The small screen has German, whose words are longer.
 */
const LOOKS = [
  { language: "en", colorScheme: "light", width: 1_280 },
  { language: "de", colorScheme: "dark", width: 360 },
] as const;
/** The axe rules that depend on colors. Only they are checked in the second look. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];
const HOSTILE = `<img src=x onerror="window.ran=1">\u202e`;
type Look = (typeof LOOKS)[number];

describe.skipIf(browserPath === undefined)("each view and dialog of the portal", () => {
  const bed = usePortal();
  let id: string;
  let colleague: string;
  /** The operation id of a call with a body and a required parameter. */
  let call: string;

  // Creates an organization in which no list of the portal is empty.
  beforeAll(async () => {
    id = await bed.organization("ada", `Everyone ${HOSTILE}`);
    const post = (path: string, body: object) => bed.callAsMember("ada", id, "POST", path, body);
    const invite = await (await post("/org/invites", { max_uses: 5 })).json();
    await post("/org/invites", { email: HOSTILE });
    const joined = await bed.call("grace", "POST", "/user/invites/redeem", {
      token: textOf(invite, "token"),
    });
    colleague = textOf(await joined.json(), "id");
    await bed.callAsMember("ada", id, "PATCH", `/org/members/${colleague}`, { display_name: HOSTILE });
    const account = textOf(await (await post("/org/service-accounts", { name: HOSTILE })).json(), "id");
    for (const path of [`/org/service-accounts/${account}/api-keys`, "/member/api-keys"]) {
      await post(path, { name: HOSTILE, expires_in_seconds: 86_400 });
      const gone = await (await post(path, { name: HOSTILE })).json();
      await bed.callAsMember("ada", id, "DELETE", `${path}/${textOf(gone, "id")}`);
    }
    await bed.call("ada", "POST", "/user/api-keys", { name: "Deploy" });
    call = await bed.operationId("PUT", "/demo/things/{thing_id}");
  }, PAGE_TIMEOUT_MS);

  /**
   * Returns the URL fragments that the walk starts with: pages without a link to them, and pages with data.
   * The walk visits only one page of each kind, so the pages with data must come first.
   */
  const unlinked = () => [
    `#/org/${id}/overview`,
    `#/org/${id}/members/${colleague}`,
    `#/org/${id}/reference/${call}`,
    "#/invite",
    "#/nowhere",
  ];

  async function show(page: Page, { language, colorScheme, width }: Look): Promise<void> {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 900 });
    // A script changes the language, because a person cannot while a dialog is open.
    await page.evaluate(`(() => {
      const choice = document.querySelector("select.language");
      choice.value = ${JSON.stringify(language)};
      choice.dispatchEvent(new Event("change", { bubbles: true }));
    })()`);
    await page.locator(`html[lang=${language}]`).waitFor({ state: "attached" });
  }

  /**
   * Expects that axe reports no violation in `checked`, and that the page does not scroll sideways in any look. The
   * page is in `LOOKS[0]` when this is called, and again when it returns.
   */
  async function expectSound(page: Page, name: string, checked: Look = LOOKS[0]): Promise<void> {
    for (const look of LOOKS.toReversed()) {
      await show(page, look);
      const found =
        look === checked ? await violationsOn(page, ...(look === LOOKS[0] ? [] : COLOR_RULES)) : [];
      const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect({ name, look, found, wider }).toEqual({ name, look, found: [], wider: 0 });
    }
  }

  /** Submits a form with values that the page refuses. Returns false for a part without text fields. */
  async function sendWrong({ name, part }: Stop): Promise<boolean> {
    const texts = part.locator("form input[type=text]");
    if ((await texts.count()) === 0) return false;
    // A form of the API reference refuses only empty values. Every other form refuses control characters.
    const wrong = name.includes("/reference/") ? "" : "\u0007";
    for (const text of await texts.all()) await text.fill(wrong);
    await texts.first().press("Enter");
    await part.locator('[aria-invalid="true"]').first().waitFor();
    return true;
  }

  // PT-33
  test("has no axe violation with a new secret, a verdict, a failure, a limit or after a sign-out", async () => {
    const { page, go } = await bed.open("ada");
    const dialog = page.getByRole("dialog");
    // A gateway on a busy machine refuses a write with 503 before the write reaches a service.
    const send = async (route: Route) => {
      const response = await route.fetch();
      return response.status() === 503 ? null : response;
    };
    for (const path of ["**/api-keys", "**/invites"]) {
      await page.route(path, async (route) => route.fulfill({ response: await waitFor(() => send(route)) }));
    }
    await go(`#/org/${id}/keys`);
    await page.getByRole("button", { name: "Create a key" }).click();
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByRole("button", { name: "I stored the key" }).waitFor();
    await expectSound(page, "a new key", LOOKS[1]);
    await page.keyboard.press("Escape");
    await go(`#/org/${id}/invites`);
    await page.getByRole("button", { name: "Invite a person" }).click();
    await dialog.getByRole("button", { name: "Create the invitation" }).click();
    await dialog.getByRole("figure", { name: "Link of the invitation" }).waitFor();
    await expectSound(page, "a new invitation", LOOKS[1]);
    await page.keyboard.press("Escape");
    await go(`#/org/${id}/audit/verify`);
    await page.getByRole("button", { name: "Verify now" }).click();
    await page.getByRole("alert", { name: "Result of the verification" }).waitFor();
    await expectSound(page, "a verdict", LOOKS[1]);
    await page.route("**/org/members*", (route) => route.abort());
    await go(`#/org/${id}/members`);
    await page.getByRole("alert").waitFor();
    await expectSound(page, "a failure", LOOKS[1]);
    await page.route("**/org/invites*", (route) =>
      route.fulfill({ status: 429, headers: { "Retry-After": "60", "X-RateLimit-Limit": "9" }, json: {} }),
    );
    await go(`#/org/${id}/invites`);
    await page.getByText("The limit is 9 requests").waitFor();
    await expectSound(page, "a limit", LOOKS[1]);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await expectSound(page, "a sign-out", LOOKS[1]);
  });

  /** Expects that Tab reaches each control of a view or dialog once, in page order, with a visible focus. */
  async function expectReached(page: Page, { name, isDialog }: Stop): Promise<void> {
    const controls: string[] = await page.evaluate(`(() => {
      const part = document.querySelector("dialog") ?? document;
      window.controls = [...part.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
        .filter((control) => control.checkVisibility({ visibilityProperty: true }));
      window.controls[0].focus();
      return window.controls.map((control) => (control.labels?.[0] ?? control).textContent);
    })()`);
    const reached = [0];
    const hidden: string[] = [];
    for (let step = 0; step < 10 * controls.length; step++) {
      await page.keyboard.press("Tab");
      const [at, isShown, isOutside]: [number, boolean, boolean] = await page.evaluate(`(() => {
        const focused = document.activeElement;
        const { outlineStyle, outlineWidth } = getComputedStyle(focused);
        const open = document.querySelector("dialog");
        if (open !== null && focused !== document.body && !open.contains(focused)) throw focused.outerHTML;
        return [window.controls.indexOf(focused), outlineStyle !== "none" && parseFloat(outlineWidth) >= 2,
          focused === document.body];
      })()`);
      // After the last control of a view, the focus leaves the page. In a dialog it returns to the first
      // control.
      if (isOutside && !isDialog) break;
      if (at === 0) break;
      if (at < 0 || at === reached.at(-1)) continue;
      reached.push(at);
      if (!isShown) hidden.push(controls[at] ?? "");
    }
    const expected = controls.map((control, at) => `${at} ${control}`);
    expect({ name, reached: reached.map((at) => `${at} ${controls[at]}`), hidden }).toEqual({
      name,
      reached: expected,
      hidden: [],
    });
  }

  /** Expects that each control is below or beside the control that precedes it in tab order. */
  async function expectDownward(page: Page, { name }: Stop): Promise<void> {
    for (const width of [1_280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      const upward = await page.evaluate(`["header", "main"].flatMap((part) => {
        const controls = window.controls.filter((control) => control.closest("header, main")?.matches(part)
          && control.checkVisibility());
        return controls.filter((control, at) => at > 0 &&
          control.getBoundingClientRect().bottom <= controls[at - 1].getBoundingClientRect().top)
          .map((control) => control.textContent);
      })`);
      expect({ name, width, upward }).toEqual({ name, width, upward: [] });
    }
    await page.setViewportSize({ width: 1_280, height: 900 });
  }

  /**
   * Expects 8 pixels between controls, at most one main button, fields that fill their dialog, and at most 64 pixels
   * of header on a small screen.
   */
  async function expectRoom(page: Page, { name }: Stop): Promise<void> {
    for (const width of [1_280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      const found = await page.evaluate(`(() => {
        const part = document.querySelector("dialog") ?? document.querySelector("main");
        const boxes = [...part.querySelectorAll(".button, .chip, .field :is(input, select, textarea), .table, .panel, .empty")]
          .filter((each) => each.checkVisibility()).map((each) => [each, each.getBoundingClientRect()]);
        const near = boxes.flatMap(([one, a], at) => boxes.slice(at + 1).filter(([other, b]) => !one.contains(other)
          && Math.max(a.left - b.right, b.left - a.right, a.top - b.bottom, b.top - a.bottom) < 8)
          .map(([other]) => one.outerHTML.slice(0, 90) + " " + other.outerHTML.slice(0, 90)));
        const fields = [...document.querySelectorAll("dialog .field > :is(input, select, textarea)")];
        const roomOf = (box, { paddingLeft, paddingRight } = getComputedStyle(box)) =>
          box.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
        const narrow = fields.filter((each) => roomOf(each.closest(".field").parentElement) - each.offsetWidth > 1);
        return { near, narrow: narrow.length, main: part.querySelectorAll(".button-main").length > 1,
          header: innerWidth < 768 && document.querySelector("header").offsetHeight > 64 };
      })()`);
      expect({ name, width, found }).toEqual({
        name,
        width,
        found: { near: [], narrow: 0, main: false, header: false },
      });
    }
    await page.setViewportSize({ width: 1_280, height: 900 });
  }

  // PT-32, PT-33, PT-37
  test("has no axe violation, leaves room between controls, is reached by Tab in order, and returns the focus of a dialog", async () => {
    const shown = await bed.visit();
    const { page, complaints, forbiddenUrls } = shown;
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await expectSound(page, "the sign-in");
    await signIn(page, "ada");
    const stops: string[] = [];
    let isRefused = false;
    for await (const stop of walk(shown, unlinked())) {
      stops.push(stop.name);
      await expectReached(page, stop);
      await expectDownward(page, stop);
      await expectRoom(page, stop);
      await expectSound(page, stop.name);
      if (isRefused || !(await sendWrong(stop))) continue;
      isRefused = true;
      await expectSound(page, `${stop.name}, refused`);
    }
    const dialogs = ["Invite a person", "Revoke", "Rotate", "Suspend", "Export …", "Send …"];
    expect(dialogs.filter((dialog) => !stops.some((stop) => stop.endsWith(`, ${dialog}`)))).toEqual([]);
    expect(stops.length).toBeGreaterThan(25);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect([complaints, forbiddenUrls]).toEqual([[], []]);
  });
});
