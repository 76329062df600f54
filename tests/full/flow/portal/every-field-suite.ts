/** Tests every field of every form with hostile values, on the German page in a browser. */
import { beforeAll, describe, expect, test } from "bun:test";
import { isRecord, tryJson } from "@ostiary/lib/domain/json";
import type { Locator, Page, Route } from "playwright-core";
import { de } from "../../../../apps/portal/page/texts/de.ts";
import { browserPath } from "../../../support/pages/swagger-page.ts";
import { usePortal } from "./bed.ts";
import { type Stop, settling, walk } from "./walk.ts";

const VALUES = {
  empty: "",
  spaces: "  \u00a0 ",
  long: "x".repeat(10_000),
  controls: "a\u0000b\u0007c",
  markup: `"><img src=x onerror="window.ran=1">`,
} as const;
type Outcomes = Readonly<Record<keyof typeof VALUES, string>>;

/**
 * The expected reaction to each value: the name of the page's message, or `sent` if the page sends the value
 * to the service.
 */
const OPTIONAL: Outcomes = {
  empty: "sent",
  spaces: "sent",
  long: "too_long",
  controls: "control_characters",
  markup: "sent",
};
const REQUIRED: Outcomes = { ...OPTIONAL, empty: "empty", spaces: "empty" };
const ROUTE: Outcomes = { ...OPTIONAL, markup: "route" };
const ANY: Outcomes = { ...OPTIONAL, long: "sent", controls: "sent" };
/** The expected reactions of a field for a required parameter of a call. */
const PARAMETER: Outcomes = { ...ANY, empty: "missing" };

/** The expected reactions of a field for the name of what is deleted. */
const { typeFirst } = de.settings;
const OTHER_NAME: Outcomes = {
  empty: typeFirst,
  spaces: typeFirst,
  long: typeFirst,
  controls: typeFirst,
  markup: typeFirst,
};

const { columns } = de.members;
const FILTERS: Readonly<Record<string, Outcomes>> = {
  [de.audit.filters.service]: OPTIONAL,
  [de.audit.filters.route]: ROUTE,
  [de.audit.filters.actor_member_id]: OPTIONAL,
  [de.audit.filters.request_id]: OPTIONAL,
  [de.audit.filters.created_id]: OPTIONAL,
  [de.audit.filters.key_prefix]: OPTIONAL,
};
/** All text fields of the page, by form and label. The test fails for a field that is not listed here. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, Outcomes>>>> = {
  "#/org/{id}/settings": { [de.overview.name]: REQUIRED },
  [`#/org/{id}/settings, ${de.settings.remove}`]: { [de.settings.typeName("Fields")]: OTHER_NAME },
  "#/my-profile": { [de.profile.name]: REQUIRED },
  "#/org/{id}/members": { [de.members.search]: ANY },
  [`#/org/{id}/invites, ${de.invites.create}`]: { [de.invites.email]: OPTIONAL },
  [`#/org/{id}/service-accounts, ${de.serviceAccounts.create}`]: { [columns.name]: REQUIRED },
  [`#/org/{id}/keys, ${de.keys.restricted}`]: { [columns.name]: REQUIRED },
  "#/org/{id}/service-accounts/{id}": { [de.organizations.name]: REQUIRED },
  [`#/org/{id}/keys, ${de.keys.create}`]: { [de.keys.columns.name]: OPTIONAL },
  "#/org/{id}/audit": FILTERS,
  "#/org/{id}/reference": { [de.reference.search]: ANY },
  "#/org/{id}/reference/{id}": {
    "thing_id (Pfad, erforderlich)": PARAMETER,
    "Inhalt (application/octet-stream)": ANY,
  },
  "#/organizations": { [de.organizations.name]: REQUIRED },
  "#/my-audit": FILTERS,
  "#/invite": { [de.invite.paste]: REQUIRED },
};

/** The names of the page's messages, by the German text. */
const SENTENCES = new Map<unknown, string>(
  [de.problems, de.reference.problems].flatMap((problems) =>
    Object.entries(problems).flatMap(([name, text]) =>
      typeof text === "string"
        ? [[text, name] as const]
        : [128, 320, 1_024, 2_048].map((most) => [text(most.toLocaleString("de")), name] as const),
    ),
  ),
);

describe.skipIf(browserPath === undefined)("each field of the portal", () => {
  const bed = usePortal();
  let id: string;
  let call: string;
  beforeAll(async () => {
    id = await bed.organization("ada", "Fields");
    await bed.callAsMember("ada", id, "POST", "/org/service-accounts", { name: "Robot" });
    call = await bed.operationId("PUT", "/demo/things/{thing_id}");
  });
  const unlinked = () => [
    `#/org/${id}/overview`,
    `#/org/${id}/reference/${call}`,
    "#/organizations",
    "#/invite",
  ];

  /**
   * Refuses every write and every filter of the page with an error for each field, so that nothing is
   * written. Returns a list to which the bodies of the requests are appended.
   */
  async function refuseAll(page: Page): Promise<string[]> {
    const bodies: string[] = [];
    await page.route(/\/(org|user|member|demo)\b/, (route: Route) => {
      const request = route.request();
      const { pathname, searchParams } = new URL(request.url());
      const isMinted = pathname.endsWith("/session");
      const filters = Object.fromEntries([...searchParams].filter(([name]) => name !== "limit"));
      const isFiltered = pathname.endsWith("/audit-events") && Object.keys(filters).length > 0;
      if (isMinted || (request.method() === "GET" && !isFiltered)) return route.continue();
      const body: unknown = tryJson(request.postData() ?? "");
      bodies.push(request.postData() ?? "");
      const sent = isRecord(body) ? body : filters;
      const fields = Object.keys(sent).map((path) => ({ path, message: `${path} ${VALUES.markup}` }));
      const error = { type: "invalid_request_error", code: "VALIDATION_ERROR", message: "No." };
      return route.fulfill({
        status: 422,
        json: { error: { ...error, request_id: "1", details: { fields } } },
      });
    });
    return bodies;
  }

  /**
   * Fills a field and submits its form. Returns the name of the page's message about the field, or `sent`.
   */
  async function outcomeOf(page: Page, field: Locator, value: string, settled: () => Promise<void>) {
    await field.fill(value);
    await field.evaluate((input) => Reflect.get(input, "form")?.requestSubmit());
    await settled();
    const dialogs = page.getByRole("dialog", { name: de.reference.confirmTitle });
    if ((await dialogs.count()) > 0) await page.keyboard.press("Escape");
    const describedBy = (await field.getAttribute("aria-describedby")) ?? "";
    const [problem] = describedBy.split(" ").filter((each) => each.endsWith("-problem"));
    if (problem === undefined) return "sent";
    const text = await page.locator(`[id="${problem}"]`).textContent();
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    if (text?.endsWith(VALUES.markup)) return "sent";
    expect(await page.evaluate(`document.activeElement.getAttribute("aria-invalid")`)).toBe("true");
    return SENTENCES.get(text) ?? text;
  }

  /** Tries each value in each field of a view or dialog. Returns the reactions. */
  async function tryFields(page: Page, { part }: Stop, bodies: string[], settled: () => Promise<void>) {
    const outcomes: Record<string, Record<string, string | null>> = {};
    for (const field of await part.locator("input[type=text], input[type=search], textarea").all()) {
      const label = await field.evaluate((input) => Reflect.get(input, "labels")[0].textContent);
      const tried: Record<string, string | null> = {};
      for (const [name, value] of Object.entries(VALUES)) {
        const before = bodies.length;
        tried[name] = await outcomeOf(page, field, value, settled);
        if (tried[name] !== "sent")
          expect({ label, name, sent: bodies.length - before }).toMatchObject({ sent: 0 });
      }
      await field.fill("1");
      outcomes[label] = tried;
    }
    return outcomes;
  }

  // PT-32, PT-38
  test("shows next to it, in German, why a hostile value is wrong, or the service's message", async () => {
    const shown = await bed.open("ada", { locale: "de-DE" });
    const { page, complaints } = shown;
    const bodies = await refuseAll(page);
    const settled = settling(page);
    const found: Record<string, unknown> = {};
    for await (const stop of walk(shown, unlinked())) {
      const outcomes = await tryFields(page, stop, bodies, settled);
      if (Object.keys(outcomes).length > 0) found[stop.name] = outcomes;
    }
    expect(found).toEqual(FIELDS);
    expect(bodies.some((body) => body.includes(JSON.stringify(VALUES.markup)))).toBe(true);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  // PT-38
  test("for a time accepts only complete times up to the year 9999, and in “Before” only times after “From”", async () => {
    const { page, go } = await bed.open("ada");
    await go(`#/org/${id}/audit`);
    await page.getByRole("table", { name: "Events" }).waitFor();
    const field = (label: string) => page.getByLabel(label, { exact: true });
    await page.getByRole("button", { name: "More filters" }).click();
    const show = () => page.getByRole("button", { name: "Show events" }).click();
    const from = field("From");
    const wrong = page.getByText("Enter a complete date and time, with a year from 1 to 9999.");
    await from.fill("12026-01-01T00:00");
    await show();
    await wrong.waitFor();
    expect(page.url()).toEndWith(`#/org/${id}/audit`);
    await from.fill("9999-12-31T23:59");
    await field("Before").fill("1000-01-01T00:00");
    await show();
    await page.getByText("Choose a time after the time in the field “From”.").waitFor();
    await from.fill("");
    await from.press("1");
    await show();
    await wrong.waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await from.fill("9999-12-31T23:59");
    await show();
    await page.getByText("No event matches.").waitFor();
    await go(`#/org/${id}/audit?occurred_after=yesterday`);
    await page.getByText("occurred_after must be an RFC 3339 time").waitFor();
    expect(await page.getByText("occurred_after must be an RFC 3339 time").count()).toBe(1);
    expect(await from.getAttribute("aria-invalid")).toBe("true");
  });
});
