import { describe, expect, test } from "bun:test";
import { pageRequest } from "@ostiary/lib/runtime/http";
import fc from "fast-check";
import { eventFilter, pageProblems } from "../../../apps/audit/events/event-parameters.ts";
import { exportFormat } from "../../../apps/audit/exports/formats.ts";

const log = { kind: "organization", id: "o" } as const;
const read = (text: string) => ({
  filter: eventFilter(log, queryOf(text)),
  page: pageRequest(queryOf(text)),
});
const queryOf = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));

/** Returns the first problem of each wrong parameter in a query string. */
function problems(text: string): Record<string, string> {
  const found = pageProblems(
    log,
    queryOf(text),
    new Request(`http://audit/organizations/o/audit-events?${text}`),
  );
  return Object.fromEntries(found.toReversed().map(({ path, message }) => [path, message]));
}

/** The refused values of each parameter, as a query string has them. */
const refused: Record<string, string[]> = {
  limit: ["0", ""],
  starting_after: ["81J9ZX4K7M2P5Q8R1S3T6V9W0Y"],
  service: ["", "s".repeat(129), "a%00b"],
  method: ["M".repeat(17)],
  outcome: ["PENDING"],
  actor_member_id: ["m".repeat(129)],
  request_id: ["r".repeat(129)],
  created_id: ["%00"],
  route: ["r".repeat(1_025), "/a%0A", "%C3%A9", ""],
  occurred_after: ["yesterday", "2026-01-01T00:00:00+02:00"],
  occurred_before: ["2026-02-29T00:00:00Z"],
};

describe("the query parameters of an event list", () => {
  test("are parsed into a filter and a page", () => {
    const { filter, page } = read(
      [
        "limit=7&starting_after=01J9ZX4K7M2P5Q8R1S3T6V9W0Y&actor_member_id=m&service=s&method=GET&outcome=pending",
        "request_id=r&created_id=c&route=%2Forg%2F%7Bx%7D&params[a]=1&params%5Bb%5D=2&params[c]d]=%2B",
        "occurred_after=2026-01-01T00:00:00Z&occurred_before=2026-01-01T02:00:00%2B02:00",
      ].join("&"),
    );
    expect(page).toEqual({ limit: 7, starting_after: "01J9ZX4K7M2P5Q8R1S3T6V9W0Y" });
    expect(filter.exact).toEqual({
      actor_member_id: "m",
      service: "s",
      method: "GET",
      outcome: "pending",
      request_id: "r",
      created_id: "c",
      route: "/org/{x}",
    });
    expect([...filter.params]).toEqual([
      ["a", "1"],
      ["b", "2"],
      ["c]d", "+"],
    ]);
    expect([filter.from?.toString(), filter.before?.toString()]).toEqual([
      "2026-01-01T00:00:00Z",
      "2026-01-01T00:00:00Z",
    ]);
  });

  // AU-39
  test.each([
    ...Object.entries(refused).flatMap(([name, values]) => values.map((value) => [`${name}=${value}`, name])),
    ["params=x", "params"],
    ["params[]=x", "params[]"],
    ["params[a]=%00", "params[a]"],
    ["params[%00]=x", "params[\0]"],
    [`params[a]=${"v".repeat(8_193)}`, "params[a]"],
    ["user_id=u", "user_id"],
    ["__proto__=x", "__proto__"],
  ])("of ?%s are refused, and the problem names %s", (query = "", path = "") => {
    const found = problems(query);
    expect(Object.keys(found)).toEqual([path]);
    expect(found[path]).toEndWith(".");
  });

  test("are refused with all problems at once", () => {
    expect(
      Object.keys(problems("limit=0&nope=1&outcome=x&occurred_after=x&service=&params[]=")).sort(),
    ).toEqual(["limit", "nope", "outcome", "occurred_after", "service", "params[]"].sort());
  });

  test("are parsed or refused without an exception, whatever they contain", () => {
    fc.assert(
      fc.property(fc.webQueryParameters(), fc.string(), (query, name) => {
        problems(query);
        problems(`${encodeURIComponent(name.toWellFormed())}=x`);
        const { filter } = read(`params[x]=${encodeURIComponent(name.toWellFormed().replaceAll("\0", ""))}`);
        expect(filter.params.get("x")).toBe(name.toWellFormed().replaceAll("\0", ""));
      }),
    );
  });
});

// AU-41
describe("the Accept header", () => {
  test.each([
    [null, null],
    ["*/*", null],
    ["text/html,application/xhtml+xml,*/*;q=0.8", null],
    ["text/csv", "csv"],
    ["text/*", "csv"],
    ["text/csv;q=0.5, application/json", null],
    ["text/csv;q=0.8, application/x-ndjson;q=0.9, */*;q=0.1", "ndjson"],
    ["application/json;q=0, */*", "csv"],
  ] as const)("%p selects the export format %p", (accept, format) => {
    expect(exportFormat(accept)).toBe(format);
  });
});
