import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { BATCH_BYTES_MAX, BATCH_MAX } from "@ostiary/lib/contracts/audit";
import { intent, json, requestId, sharedAudit, userIntent, wrongFields } from "./audit-service.ts";

setDefaultTimeout(60_000);

const rejected = { outcome: "rejected", status: 403 };

describe("a batch of outcomes", () => {
  const audit = sharedAudit();

  /** Returns the results of a batch, whose status must be 200. */
  async function resultsOf(outcomes: unknown[]): Promise<Record<string, unknown>[]> {
    const response = await audit.postOutcomes({ outcomes });
    const body = await json(response);
    expect([response.status, Object.keys(body)]).toEqual([200, ["results"]]);
    return body.results;
  }

  async function written(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, requestId);
    await Promise.all(ids.map((id) => audit.put(id, intent())));
    return ids;
  }

  // AU-24, AU-25
  test("returns the result of each, in their order", async () => {
    const [fresh, final, again, wrong, ofOrganization] = await written(5);
    const person = requestId();
    await audit.put(person, userIntent());
    await audit.patch(String(final), rejected);
    const pair = { organization_id: "organization-8", member_id: "member-8" };
    const responded = { outcome: "responded", status: 201, details: { name: "道" }, created_id: "w" };
    const results = await resultsOf([
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
    const invalid = (request_id: unknown, ...paths: string[]) => ({
      request_id,
      result: "invalid",
      fields: paths.map((path) => ({ path, message: expect.stringMatching(/\.$/) })),
    });
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

  // AU-25
  test("that is sent again is answered already_final, and counts like single ones", async () => {
    const ids = await written(BATCH_MAX);
    const outcomes = ids.map((request_id) => ({ request_id, ...rejected }));
    const count = async (result: string) => {
      const text = await (await fetch(`${audit.internal_url}/metrics`)).text();
      return Number(text.split(`audit_outcomes_total{result="${result}"} `)[1]?.split("\n")[0]);
    };
    const [applied, final] = [await count("applied"), await count("already_final")];
    for (const result of ["applied", "already_final"]) {
      expect(await resultsOf(outcomes)).toEqual(ids.map((request_id) => ({ request_id, result })));
    }
    expect(await count("applied")).toBe(applied + BATCH_MAX);
    expect(await count("already_final")).toBe(final + BATCH_MAX);
  });

  // AU-23
  test("waits for intents that are still being written", async () => {
    const ids = Array.from({ length: 20 }, requestId);
    const intents = Promise.all(ids.map((id) => audit.put(id, intent())));
    await audit.put(requestId(), intent());
    const results = await resultsOf(ids.map((request_id) => ({ request_id, ...rejected })));
    await intents;
    for (const { request_id, result } of results) {
      // An outcome that overtook its intent on the wire is not_found.
      const outcome = result === "applied" ? "rejected" : "pending";
      expect(await audit.event(String(request_id))).toMatchObject({ outcome });
    }
  });

  test("holds the maximum of outcomes with the longest details", async () => {
    const ids = await written(BATCH_MAX);
    const details = { text: "é".repeat(680) };
    const outcomes = ids.map((request_id) => ({ request_id, outcome: "responded", status: 200, details }));
    expect(JSON.stringify({ outcomes }).length).toBeGreaterThan(64 * 1024);
    for (const { result } of await resultsOf(outcomes)) expect(result).toBe("applied");
    expect(await audit.event(String(ids.at(-1)))).toMatchObject({ details });
  });

  const item = { request_id: "nobody", ...rejected };
  test.each([
    ["no outcomes", { outcomes: [] }, ["outcomes"]],
    ["101 outcomes", { outcomes: Array(BATCH_MAX + 1).fill(item) }, ["outcomes"]],
    ["outcomes that are no list", { outcomes: item }, ["outcomes"]],
    ["another name for them", { results: [item] }, ["outcomes"]],
    ["a list alone", [item], [""]],
  ])("with %s is 422", async (_, body, paths) => {
    expect(await wrongFields(await audit.postOutcomes(body))).toEqual(paths);
  });

  test("that is not JSON is 400, and 413 when it is too large", async () => {
    expect((await audit.postOutcomes("{")).status).toBe(400);
    const large = JSON.stringify({ outcomes: [{ ...item, more: "x".repeat(BATCH_BYTES_MAX) }] });
    const answer = await audit.postOutcomes(large);
    expect([answer.status, (await json(answer)).error.details]).toEqual([
      413,
      { max_size_bytes: BATCH_BYTES_MAX },
    ]);
  });
});
