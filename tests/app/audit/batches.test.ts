import { describe, expect, test } from "bun:test";
import { BATCH_BYTES_MAX, BATCH_MAX } from "@ostiary/lib/contracts/audit";
import { metricOf } from "../../support/telemetry/metrics.ts";
import { intent, json, requestId, sharedAudit, userIntent, wrongFields } from "./bed.ts";

const audit = sharedAudit();
const rejected = { outcome: "rejected", status: 403 };
const ids = (count: number) => Array.from({ length: count }, requestId);

/** Expects status 200, and returns the results of a batch. */
async function resultsOf(pending: Promise<Response>): Promise<Record<string, unknown>[]> {
  const response = await pending;
  const body = await json(response);
  expect([response.status, Object.keys(body)]).toEqual([200, ["results"]]);
  return body.results;
}
const intents = (all: unknown[]) => resultsOf(audit.postIntents({ intents: all }));
const outcomes = (all: unknown[]) => resultsOf(audit.postOutcomes({ outcomes: all }));

const invalid = (request_id: unknown, ...paths: string[]) => ({
  request_id,
  result: "invalid",
  fields: paths.map((path) => ({ path, message: expect.stringMatching(/\.$/) })),
});

/** Returns one item of a batch of intents. */
const of = (request_id: unknown, changes: Record<string, unknown> = {}) => ({
  request_id,
  ...intent(changes),
});

async function written(count: number): Promise<string[]> {
  const all = ids(count);
  await Promise.all(all.map((id) => audit.put(id, intent())));
  return all;
}

describe("a batch of intents", () => {
  // AU-24, AU-25, AU-26
  test("returns the result of each, in their order", async () => {
    const [fresh, known, wrong, late, twice] = ids(5);
    await audit.put(String(known), intent());
    const yesterday = new Date(Date.now() - 25 * 3_600_000).toISOString();
    const results = await intents([
      of(fresh, { more: "ignored" }),
      of(known, { service: "another" }),
      of(wrong, { service: 7, ip: "\0" }),
      of(late, { occurred_at: yesterday }),
      of("not visible"),
      intent(),
      7,
      of(twice, { service: "first" }),
      of(twice, { service: "second" }),
    ]);
    expect(results).toEqual([
      { request_id: fresh, result: "created" },
      { request_id: known, result: "existing" },
      invalid(wrong, "service", "ip"),
      invalid(late, "occurred_at"),
      invalid("not visible", "request_id"),
      invalid(null, "request_id"),
      invalid(null, "request_id", ""),
      { request_id: twice, result: "created" },
      { request_id: twice, result: "existing" },
    ]);
    expect(await audit.event(String(fresh))).toMatchObject({ outcome: "pending" });
    expect(await audit.event(String(known))).toMatchObject({ service: "widgets" });
    expect(await audit.event(String(twice))).toMatchObject({ service: "first" });
    for (const id of [wrong, late]) expect(await audit.event(String(id))).toBeUndefined();
  });
});

describe("a batch of outcomes", () => {
  // AU-24, AU-25
  test("returns the result of each, in their order", async () => {
    const [fresh, final, again, wrong, ofOrganization] = await written(5);
    const person = requestId();
    await audit.put(person, userIntent());
    await audit.patch(String(final), rejected);
    const pair = { organization_id: "organization-8", member_id: "member-8" };
    const responded = { outcome: "responded", status: 201, details: { name: "道" }, created_id: "w" };
    const results = await outcomes([
      { request_id: fresh, ...responded, more: "ignored" },
      { request_id: final, ...responded },
      { request_id: "nobody", ...rejected },
      { request_id: wrong, outcome: "rejected", status: "403", created_id: "\0" },
      { request_id: "not visible", ...rejected },
      { ...rejected },
      7,
      { request_id: ofOrganization, ...responded, ...pair },
      { request_id: person, ...responded, ...pair },
      { request_id: again, outcome: "no_response", status: null },
      { request_id: again, ...rejected },
    ]);
    expect(results).toEqual([
      { request_id: fresh, result: "applied" },
      { request_id: final, result: "already_final" },
      { request_id: "nobody", result: "not_found" },
      invalid(wrong, "status", "created_id"),
      invalid("not visible", "request_id"),
      invalid(null, "request_id"),
      invalid(null, "request_id", ""),
      invalid(ofOrganization, "organization_id"),
      { request_id: person, result: "applied" },
      { request_id: again, result: "applied" },
      { request_id: again, result: "already_final" },
    ]);
    expect(await audit.event(String(fresh))).toMatchObject(responded);
    expect(await audit.event(String(final))).toMatchObject(rejected);
    expect(await audit.event(String(again))).toMatchObject({ outcome: "no_response", status: null });
    for (const id of [wrong, ofOrganization]) {
      expect(await audit.event(String(id))).toMatchObject({ outcome: "pending" });
    }
    const named = { actor: { member_id: "member-8" } };
    expect(await audit.event(person, "/organizations/organization-8")).toMatchObject(named);
  });

  test("accepts the maximum number of outcomes, each with the longest details", async () => {
    const all = await written(BATCH_MAX);
    const details = { text: "é".repeat(680) };
    const given = all.map((request_id) => ({ request_id, outcome: "responded", status: 200, details }));
    expect(JSON.stringify({ outcomes: given }).length).toBeGreaterThan(64 * 1024);
    for (const { result } of await outcomes(given)) expect(result).toBe("applied");
    expect(await audit.event(String(all.at(-1)))).toMatchObject({ details });
  });
});

const kinds = [
  {
    name: "intents",
    post: (body: unknown) => audit.postIntents(body),
    item: of("r"),
    make: async () => ids(BATCH_MAX).map((id) => of(id)),
    first: "created",
    again: "existing",
  },
  {
    name: "outcomes",
    post: (body: unknown) => audit.postOutcomes(body),
    item: { request_id: "nobody", ...rejected },
    make: async () => (await written(BATCH_MAX)).map((request_id) => ({ request_id, ...rejected })),
    first: "applied",
    again: "already_final",
  },
] as const;

describe.each(kinds)("a batch of $name", ({ name, post, item, make, first, again }) => {
  // AU-25
  test(`that is sent again returns ${again} for each item, and metrics count it like single items`, async () => {
    const given = await make();
    const count = (result: string) => metricOf(audit, `audit_${name}_total{result="${result}"}`);
    const before = [await count(first), await count(again)];
    for (const result of [first, again]) {
      const results = await resultsOf(post({ [name]: given }));
      expect(results).toEqual(given.map(({ request_id }) => ({ request_id, result })));
    }
    expect([await count(first), await count(again)]).toEqual(before.map((each) => each + BATCH_MAX));
  });

  // AU-24
  test.each([
    ["no items", { [name]: [] }, [name]],
    ["101 items", { [name]: Array(BATCH_MAX + 1).fill(item) }, [name]],
    ["a list as its body", [item], [""]],
  ])("with %s is 422", async (_, body, paths) => {
    expect(await wrongFields(await post(body))).toEqual(paths);
  });

  // AU-16
  test("is 400 if it is not JSON, and 413 if it is too large", async () => {
    expect((await post("{")).status).toBe(400);
    const response = await post(JSON.stringify({ [name]: [{ ...item, more: "x".repeat(BATCH_BYTES_MAX) }] }));
    const { details } = (await json(response)).error;
    expect([response.status, details]).toEqual([413, { max_size_bytes: BATCH_BYTES_MAX }]);
  });
});
