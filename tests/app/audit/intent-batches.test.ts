import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { BATCH_BYTES_MAX, BATCH_MAX } from "@ostiary/lib/contracts/audit";
import { intent, json, requestId, sharedAudit, wrongFields } from "./audit-service.ts";

setDefaultTimeout(60_000);

const rejected = { outcome: "rejected", status: 403 };

describe("a batch of intents", () => {
  const audit = sharedAudit();

  /** Returns the results of a batch, whose status must be 200. */
  async function resultsOf(intents: unknown[]): Promise<Record<string, unknown>[]> {
    const response = await audit.postIntents({ intents });
    const body = await json(response);
    expect([response.status, Object.keys(body)]).toEqual([200, ["results"]]);
    return body.results;
  }

  const of = (request_id: unknown, changes: Record<string, unknown> = {}) => ({
    request_id,
    ...intent(changes),
  });

  // AU-24, AU-25, AU-26
  test("returns the result of each, in their order", async () => {
    const [fresh, known, wrong, late, twice] = Array.from({ length: 5 }, requestId);
    await audit.put(String(known), intent());
    const yesterday = new Date(Date.now() - 25 * 3_600_000).toISOString();
    const results = await resultsOf([
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
    const invalid = (request_id: unknown, ...paths: string[]) => ({
      request_id,
      result: "invalid",
      fields: paths.map((path) => ({ path, message: expect.stringMatching(/\.$/) })),
    });
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

  test("that is sent again is answered existing, and counts like single ones", async () => {
    const intents = Array.from({ length: BATCH_MAX }, () => of(requestId()));
    const count = async (result: string) => {
      const text = await (await fetch(`${audit.internal_url}/metrics`)).text();
      return Number(text.split(`audit_intents_total{result="${result}"} `)[1]?.split("\n")[0]);
    };
    const [created, existing] = [await count("created"), await count("existing")];
    for (const result of ["created", "existing"]) {
      expect(await resultsOf(intents)).toEqual(intents.map(({ request_id }) => ({ request_id, result })));
    }
    expect(await count("created")).toBe(created + BATCH_MAX);
    expect(await count("existing")).toBe(existing + BATCH_MAX);
  });

  // AU-25
  test("creates each event once, when batches and single intents claim the same requests at once", async () => {
    const ids = Array.from({ length: 50 }, requestId);
    const batches = [ids, ids.toReversed(), ids].map((each) => resultsOf(each.map((id) => of(id))));
    const single = Promise.all(ids.map((id) => audit.put(id, intent())));
    const results = (await Promise.all(batches)).flat();
    const statuses = (await single).map(({ status }) => status);
    const created = results.filter(({ result }) => result === "created").length;
    expect(created + statuses.filter((status) => status === 201).length).toBe(ids.length);
    expect(results.every(({ result }) => result === "created" || result === "existing")).toBeTrue();
    for (const id of ids) expect(await audit.event(id)).toMatchObject({ request_id: id });
  });

  test("makes the outcomes of its requests wait", async () => {
    const ids = Array.from({ length: 20 }, requestId);
    const written = resultsOf(ids.map((id) => of(id)));
    const response = await audit.postOutcomes({
      outcomes: ids.map((request_id) => ({ request_id, ...rejected })),
    });
    await written;
    for (const { request_id, result } of (await json(response)).results) {
      // An outcome that overtook its intents on the wire is not_found.
      const outcome = result === "applied" ? "rejected" : "pending";
      expect(await audit.event(request_id)).toMatchObject({ outcome });
    }
  });

  const item = of("r");
  // AU-24
  test.each([
    ["no intents", { intents: [] }, ["intents"]],
    ["101 intents", { intents: Array(BATCH_MAX + 1).fill(item) }, ["intents"]],
    ["intents that are no list", { intents: item }, ["intents"]],
    ["another name for them", { outcomes: [item] }, ["intents"]],
    ["a list alone", [item], [""]],
  ])("with %s is 422", async (_, body, paths) => {
    expect(await wrongFields(await audit.postIntents(body))).toEqual(paths);
  });

  // AU-16
  test("that is not JSON is 400, and 413 when it is too large", async () => {
    expect((await audit.postIntents("{")).status).toBe(400);
    const large = JSON.stringify({ intents: [{ ...item, more: "x".repeat(BATCH_BYTES_MAX) }] });
    const answer = await audit.postIntents(large);
    expect([answer.status, (await json(answer)).error.details]).toEqual([
      413,
      { max_size_bytes: BATCH_BYTES_MAX },
    ]);
  });
});
