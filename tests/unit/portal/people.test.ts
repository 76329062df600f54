/** Tests of how the portal's page names people and their actions. */
import { describe, expect, test } from "bun:test";
import type { Credential } from "@ostiary/client";
import { isBlank } from "@ostiary/lib/contracts/identity-api";
import { actionText } from "../../../apps/portal/page/audit/action-text.ts";
import {
  actionIn,
  filtersOf,
  moreFilters,
  withAction,
  withRange,
} from "../../../apps/portal/page/audit/selection.ts";
import { Gateway } from "../../../apps/portal/page/gateway.ts";
import { inviteTokenIn } from "../../../apps/portal/page/organizations/invite-token.ts";
import { Directory, nameOf } from "../../../apps/portal/page/people/directory.ts";
import { actions as german } from "../../../apps/portal/page/texts/de/actions.ts";
import { actions as english } from "../../../apps/portal/page/texts/en/actions.ts";

const texts = { unnamed: (end: string) => `Member …${end}` };
const memberOf = (id: string, display_name: string | null = `Name of ${id}`) => ({
  id,
  organization_id: "01M8MN4QXATR9MTPEEENK9WN15",
  principal: "user",
  service_account_id: null,
  display_name,
  role: null,
  status: "active",
  created_at: "2026-11-29T22:00:00.000Z",
  updated_at: "2026-11-29T22:00:00.000Z",
});
const idAt = (index: number) => `01M8MN4QXATR9MTPEEEN${String(index).padStart(6, "0")}`;

/** Returns a directory of an organization with `count` members, and the paths that it asked for. */
function directoryOf(count: number) {
  const asked: string[] = [];
  const fetch = async ({ url }: Request) => {
    asked.push(url);
    const { pathname, searchParams } = new URL(url);
    const [, id] = /^\/org\/members\/(.+)$/.exec(pathname) ?? [];
    if (id !== undefined) return Response.json(memberOf(id));
    const after = searchParams.get("starting_after");
    const from = after === null ? 0 : Number(after.slice(-6)) + 1;
    const members = Array.from({ length: Math.min(100, count - from) }, (_, index) =>
      memberOf(idAt(from + index)),
    );
    return Response.json({ members, has_more: from + 100 < count });
  };
  const credential: Credential = { header: "X-API-Key", value: () => "any" };
  const gateway = new Gateway({ member: credential, person: credential }, "https://api.test", {
    fetch,
    sleep: async () => {},
  });
  return { directory: new Directory(gateway), asked };
}

describe("the directory of an organization", () => {
  // PT-74
  test.each([
    [0, 1, 1],
    [1, 1, 0],
    [100, 1, 0],
    [1_000, 3, 10],
  ])(
    "of %d members reads at most three pages, and looks up at most ten further members",
    async (count, pages, lookUps) => {
      const { directory, asked } = directoryOf(count);
      const wanted = Array.from({ length: Math.max(1, count) }, (_, index) => idAt(index));
      await Promise.all([directory.find(wanted), directory.find(wanted), directory.find(wanted)]);
      await directory.find(wanted);
      expect([
        asked.filter((path) => path.includes("?")).length,
        asked.filter((path) => !path.includes("?")).length,
      ]).toEqual([pages, lookUps]);
      expect(directory.members.value.get(idAt(0))?.display_name).toBe(`Name of ${idAt(0)}`);
    },
  );

  // PT-74
  test("keeps no name of an organization that the person left, also not one that arrives later", async () => {
    const { directory } = directoryOf(5);
    const search = directory.find([idAt(0)]);
    directory.forget();
    await search;
    expect(directory.members.value.size).toBe(0);
  });
});

describe("the name of a member", () => {
  // PT-74
  test.each([null, "", " ", "\u200b", "\u3164", "\u2800\u2060", "\ufe0f", "\u202e\u00a0"])(
    "is never empty, as for %j",
    (display_name) => {
      expect(nameOf({ id: "01M8MN4QXATR9MTPEEENK9WN15", display_name }, texts)).toBe("Member …9WN15");
    },
  );

  // ID-15
  test("may be any visible text, but not one that shows nothing", () => {
    for (const name of ["Ada", "❤️", "👩‍👩‍👧", "ערן", "علی‌رضا", "é", "ⵣ"]) expect(isBlank(name)).toBe(false);
    for (const name of ["\u200b", "\u200d\u200d", "\u00ad"]) expect(isBlank(name)).toBe(true);
  });
});

describe("what a caller did", () => {
  const event = { method: "POST", route: "/member/api-keys", outcome: "responded", status: 201 } as const;
  const none = new Map<string, string>();
  const TRIED = ["tried to create an API key", "wollte einen API-Schlüssel anlegen"] as const;

  // PT-75
  test.each([
    [event, "created an API key", "hat einen API-Schlüssel angelegt"],
    [{ ...event, status: 409 }, ...TRIED],
    [{ ...event, outcome: "rejected", status: 403 }, ...TRIED],
    [{ ...event, outcome: "pending", status: null }, ...TRIED],
  ] as const)(
    "is in words, and an attempt is not an action that was done: %j",
    (each, inEnglish, inGerman) => {
      expect([actionText(each, english, none), actionText(each, german, none)]).toEqual([
        inEnglish,
        inGerman,
      ]);
    },
  );

  // PT-75
  test("comes from the summary of an operation that the page does not know", () => {
    const own = { ...event, method: "PUT", route: "/things/{thing_id}" };
    const summed = (summary: string) =>
      actionText(own, english, new Map([["PUT /things/{thing_id}", summary]]));
    expect(summed("Write a thing")).toBe("wrote a thing");
    expect(summed("Thing of the day")).toBe("Thing of the day");
    expect(summed("constructor of things")).toBe("constructor of things");
    expect(summed("PUT /things/{thing_id}")).toBeNull();
    expect(actionText(own, english, none)).toBeNull();
    expect(actionText({ ...own, method: "constructor", route: "" }, english, none)).toBeNull();
  });

  // PT-75
  test("has the same actions in both languages", () => {
    expect(Object.keys(german.known)).toEqual(Object.keys(english.known));
  });
});

describe("the token of an invitation", () => {
  const token = `inv_${"aZ09-_".repeat(8).slice(0, 43)}`;

  // PT-22
  test.each([
    token,
    `https://api.example.com/portal/invite?#${token}`,
    `  <https://api.example.com/portal/invite?%23${token}>.`,
    `/portal/invite?%2523${token}&utm=1`,
    `/portal/invite?=23${token.slice(0, 20)}=\n${token.slice(20)}`,
    `/portal/invite?&#35;${token}`,
  ])("is found in a link that a mail program changed: %j", (text) => {
    expect(inviteTokenIn(text)).toBe(token);
  });

  // PT-22
  test.each(["", "inv_", token.slice(0, -1), "https://api.example.com/portal/invite", '"><img src=x>'])(
    "is not found in %j",
    (text) => {
      expect(inviteTokenIn(text)).toBeNull();
    },
  );
});

describe("the chips of the audit log", () => {
  const filters = filtersOf({ service: "identity", unknown: "x", route: " " });

  // PT-60
  test("are filters of the API", () => {
    const nowMs = Date.parse("2026-11-29T12:00:00.000Z");
    const lastDay = withRange({ ...filters, occurred_before: "2026-11-01T00:00:00.000Z" }, 86_400, nowMs);
    expect(filtersOf(lastDay)).toEqual({ occurred_after: "2026-11-28T12:00:00.000Z", service: "identity" });
    expect(filtersOf(withRange(lastDay, 0, nowMs))).toEqual({ service: "identity" });
    const renamed = withAction(filters, "PATCH /org");
    expect(filtersOf(renamed)).toEqual({ method: "PATCH", route: "/org", service: "identity" });
    expect(actionIn(renamed)).toBe("PATCH /org");
    expect(filtersOf(withAction(renamed, ""))).toEqual({ service: "identity" });
  });

  // PT-60
  test("leave the other filters to the form, which says how many are in use", () => {
    const count = (query: string) => moreFilters(filtersOf(Object.fromEntries(new URLSearchParams(query))));
    expect(count("service=a&outcome=pending&key_prefix=k")).toBe(3);
    expect(count("method=PATCH&route=%2Forg&actor_member_id=m")).toBe(0);
    expect(count("method=PATCH")).toBe(1);
  });
});
