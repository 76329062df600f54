import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../support/runs.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { type AuditEvent, type AuditService, intent, json, startAudit, userIntent } from "./bed.ts";

const time = manualClock("2026-03-01T06:00:00.000Z");
let audit: AuditService;
/** All written events, oldest first. */
const written: Written[] = [];

interface Written {
  request_id: string;
  user_id: string | null;
  organization_id: string | null;
  member_id: string | null;
  service: string;
  method: string;
  route: string;
  params: Record<string, string>;
  outcome: string;
  created_id: string | null;
  occurredMs: number;
}

beforeAll(async () => {
  audit = await startAudit({ clock: time });
  for (let n = 0; n < 300; n++) await write(n);
});
afterAll(() => audit.stop());

/**
 * Writes event number `n`. Each field has a few values that repeat with different periods. The events of all
 * numbers lie in two months.
 */
async function write(n: number): Promise<void> {
  time.advance(97_000);
  const ofUser = n % 5 === 0;
  const occurredMs = time.now() - ((n * 7) % 24) * 3_600_000;
  const event: Written = {
    request_id: `request-${n}`,
    user_id: ofUser ? "user-1" : null,
    organization_id: ofUser ? null : `organization-${n % 2}`,
    member_id: ofUser ? null : `member-${n % 3}`,
    service: `service-${n % 4}`,
    method: n % 7 === 0 ? "DELETE" : "PUT",
    route: `/org/things-${n % 3}/{a}/{b}`,
    params: { a: `a-${n % 4}`, b: `b-${n % 11}` },
    outcome: "pending",
    created_id: null,
    occurredMs,
  };
  const make = ofUser ? userIntent : intent;
  const { request_id, service, method, route, params } = event;
  const log = ofUser ? {} : { organization_id: event.organization_id };
  const actor = { member_id: event.member_id, auth_type: "member_apikey", key_prefix: null };
  const occurred_at = new Date(occurredMs).toISOString();
  await audit.put(request_id, make({ ...log, actor, service, method, route, params, occurred_at }));
  const outcome = outcomeOf(n, ofUser);
  if (outcome !== null) {
    await audit.patch(request_id, outcome);
    event.outcome = outcome.outcome;
    event.created_id = outcome.created_id ?? null;
    event.organization_id = outcome.organization_id ?? event.organization_id;
    event.member_id = outcome.member_id ?? event.member_id;
  }
  written.push(event);
}

interface Outcome {
  outcome: string;
  status: number;
  created_id?: string;
  organization_id?: string;
  member_id?: string;
}

function outcomeOf(n: number, ofUser: boolean): Outcome | null {
  if (n % 6 === 0) return null;
  if (n % 6 === 1) return { outcome: "rejected", status: 403 };
  if (n % 6 === 2) return { outcome: "no_response", status: 502 };
  const pair = ofUser && n % 10 === 5 ? { organization_id: "organization-1", member_id: "member-2" } : {};
  return { outcome: "responded", status: 200, created_id: `created-${n % 9}`, ...pair };
}

/** Returns the events of all pages of a log. */
async function all(path: string, query: Record<string, string>, limit: number): Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  for (;;) {
    const cursor = events.at(-1)?.id;
    const search = new URLSearchParams({
      ...query,
      limit: String(limit),
      ...(cursor && { starting_after: cursor }),
    });
    const page = await audit.list(`${path}?${search}`);
    events.push(...page.audit_events);
    expect(page.audit_events.length).toBeLessThanOrEqual(limit);
    if (!page.has_more) return events;
    expect(page.audit_events.length).toBe(limit);
  }
}

const filters: Record<string, (event: Written, value: string) => boolean> = {
  actor_member_id: (event, value) => event.member_id === value,
  service: (event, value) => event.service === value,
  method: (event, value) => event.method === value,
  route: (event, value) => event.route === value,
  outcome: (event, value) => event.outcome === value,
  request_id: (event, value) => event.request_id === value,
  created_id: (event, value) => event.created_id === value,
  "params[a]": (event, value) => event.params.a === value,
  "params[b]": (event, value) => event.params.b === value,
  "params[c]": () => false,
  occurred_after: (event, value) => event.occurredMs >= Date.parse(value),
  occurred_before: (event, value) => event.occurredMs < Date.parse(value),
};

const moment = fc.integer({ min: 0, max: 299 }).map((n) => new Date(Date.UTC(2026, 1, 28, 6) + n * 400_000));
const values: Record<string, fc.Arbitrary<string>> = {
  actor_member_id: fc.constantFrom("member-0", "member-1", "member-2", "nobody"),
  service: fc.constantFrom("service-0", "service-3", "other"),
  method: fc.constantFrom("DELETE", "PUT", "put"),
  route: fc.constantFrom("/org/things-0/{a}/{b}", "/org/things-1/{a}/{b}", "/org"),
  outcome: fc.constantFrom("pending", "rejected", "responded", "no_response"),
  request_id: fc.constantFrom("request-1", "request-30", "request-299", "other"),
  created_id: fc.constantFrom("created-3", "created-8", "other"),
  "params[a]": fc.constantFrom("a-0", "a-3", "other"),
  "params[b]": fc.constantFrom("b-0", "b-10", "other"),
  "params[c]": fc.constant("c"),
  occurred_after: moment.map((date) => date.toISOString()),
  occurred_before: moment.map((date) => date.toISOString()),
};
const logs = ["/users/user-1", "/organizations/organization-0", "/organizations/organization-1"] as const;
const ofLog = (log: string, event: Written) =>
  log.startsWith("/users") ? event.user_id === "user-1" : event.organization_id === log.split("/")[2];

describe("a log", () => {
  // AU-34, AU-36
  test("returns exactly the events that match every filter, newest first, in pages of any size", async () => {
    const query = fc.record(values, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...logs),
        query,
        fc.constantFrom(3, 20, 100),
        async (log, query, limit) => {
          const wanted = written.filter(
            (event) =>
              ofLog(log, event) &&
              Object.entries(query).every(([name, value]) => filters[name]?.(event, String(value))),
          );
          const search = Object.fromEntries(
            Object.entries(query).map(([name, value]) => [name, String(value)]),
          );
          const events = await all(`${log}/audit-events`, search, limit);
          expect(events.map(({ request_id }) => request_id)).toEqual(
            wanted.map(({ request_id }) => request_id).toReversed(),
          );
        },
      ),
      { numRuns: runs(40) },
    );
  });

  // AU-35
  test("has 50 events in a page by default, and 100 at most", async () => {
    const path = "/organizations/organization-1/audit-events";
    const sizes = async (query: string) => (await audit.list(`${path}${query}`)).audit_events.length;
    expect(await sizes("")).toBe(50);
    expect(await sizes("?limit=1")).toBe(1);
    expect(await sizes("?limit=100")).toBe(100);
    expect(await sizes("?limit=100000000000000000000")).toBe(100);
  });

  // AU-35
  test("continues after a cursor that is not the id of an event", async () => {
    const path = "/organizations/organization-1/audit-events";
    expect(await audit.list(`${path}?starting_after=${"0".repeat(26)}`)).toEqual({
      audit_events: [],
      has_more: false,
    });
    const first = await audit.list(path);
    expect(await audit.list(`${path}?starting_after=7${"Z".repeat(25)}`)).toEqual(first);
  });

  // AU-34
  test("without events is an empty list", async () => {
    expect(await audit.list("/users/nobody/audit-events")).toEqual({ audit_events: [], has_more: false });
  });

  // AU-5
  test("of an organization never names the person; a person's log does", async () => {
    for (const log of logs) {
      const events = await all(`${log}/audit-events`, {}, 100);
      expect(new Set(events.map((event) => "user_id" in event))).toEqual(new Set([log.startsWith("/users")]));
      const ndjson = await (
        await audit.get(`${log}/audit-events`, { Accept: "application/x-ndjson" })
      ).text();
      const csv = await (await audit.get(`${log}/audit-events`, { Accept: "text/csv" })).text();
      expect([ndjson.includes("user-1"), csv.includes("user-1"), csv.includes("user_id")]).toEqual(
        Array(3).fill(log.startsWith("/users")),
      );
    }
  });
});

describe("a read", () => {
  // AU-33
  test("returns the request id in errors, and sets no X-Request-ID header", async () => {
    const response = await audit.get("/users/u/audit-events?nope=1", { "X-Request-ID": "abc" });
    expect((await json(response)).error.request_id).toBe("abc");
    expect(response.headers.get("X-Request-ID")).toBeNull();
    expect((await audit.get("/users/u/audit-events")).headers.get("X-Request-ID")).toBeNull();
  });

  // AU-49, ER-11
  test("with HEAD has no body", async () => {
    for (const accept of ["application/json", "text/csv"]) {
      const response = await fetch(`${audit.url}${logs[1]}/audit-events`, {
        method: "HEAD",
        headers: { Accept: accept },
      });
      expect([response.status, await response.text()]).toEqual([200, ""]);
      expect(response.headers.get("Content-Type")).toStartWith(accept);
    }
  });
});
