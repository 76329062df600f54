import { describe, expect, test } from "bun:test";
import { intent, json, requestId, sharedAudit, userIntent, wrongFields } from "./audit-service.ts";
import {
  exportProof,
  exportText,
  keysOf,
  ORGANIZATION_LOG,
  startProvenAudit,
  verify,
  writeEvents,
  writeSigningKey,
} from "./proof-bed.ts";

const NDJSON = { Accept: "application/x-ndjson" };

describe("an export with proof", () => {
  const audit = sharedAudit({ env: { SEAL_INTERVAL_MS: "100", AUDIT_SIGNING_KEY_FILE: writeSigningKey() } });

  // AU-61, AU-62, AU-63, AU-64
  test("has every event that was written before the request, and ends with its head and checkpoint", async () => {
    await writeEvents(audit, 4, { organization_id: "whole" });
    const path = "/organizations/whole/audit-events";
    const { events, end, text } = await exportProof(audit, path);
    const { audit_events } = await audit.list(path);
    expect(JSON.stringify(events.map(({ proof: _, ...event }) => event))).toBe(JSON.stringify(audit_events));
    expect(events.map(({ proof }) => [proof.intent?.position, proof.outcome?.position])).toEqual([
      [7, undefined],
      [5, 6],
      [3, 4],
      [1, 2],
    ]);
    expect(end.head).toMatchObject({
      owner: "organization:whole",
      position: 7,
      chain: events[0]?.proof.intent?.chain,
    });
    expect(end.recent_checkpoints.map(({ jws }) => jws)).toContain(end.checkpoint?.jws ?? "");
    expect(await verify(text, await keysOf(audit))).toMatchObject({
      complete: true,
      events: 4,
      pending: 1,
      entries: 7,
    });
  });

  test("of a log without events is proven to be empty", async () => {
    await writeEvents(audit, 1);
    // This export waits until the event has a checkpoint. The export below can then show that checkpoint.
    expect((await exportProof(audit)).end.checkpoint).not.toBeNull();
    const { events, end, text } = await exportProof(audit, "/users/nobody/audit-events");
    expect([events, end.head.position, end.checkpoint === null]).toEqual([[], 0, false]);
    expect(await verify(text)).toMatchObject({ complete: true, events: 0, checkpoint: {}, faults: [] });
  });

  // AU-199
  test("of a log without events is undecided before the first checkpoint", async () => {
    await using unused = await startProvenAudit();
    const { end, text } = await exportProof(unused);
    expect([end.head.position, end.checkpoint]).toEqual([0, null]);
    const verdict = await verify(text);
    expect(verdict).toMatchObject({ result: "undecided", events: 0, checkpoint: null, faults: [] });
    expect(verdict.undecided[0]).toStartWith("The log is empty, and no checkpoint covers an empty log");
  });

  // AU-62
  test("proves the event in the logs of the person and the organization, and hides the person from the latter", async () => {
    const id = requestId();
    await audit.put(
      id,
      userIntent({ user_id: "person-1", actor: { member_id: "was", auth_type: "jwt", key_prefix: null } }),
    );
    const before = await exportProof(audit, "/users/person-1/audit-events");
    await audit.patch(id, {
      outcome: "responded",
      status: 201,
      organization_id: "named",
      member_id: "member-9",
    });
    const keys = await keysOf(audit);
    const person = await exportProof(audit, "/users/person-1/audit-events");
    const organization = await exportProof(audit, "/organizations/named/audit-events");
    for (const { text } of [before, person, organization]) {
      expect(await verify(text, keys)).toMatchObject({ complete: true, events: 1 });
    }
    expect(organization.text).not.toContain("person-1");
    expect(organization.events[0]?.proof.intent).toMatchObject({
      position: 1,
      organization_id: null,
      member_id: "was",
    });
    expect(person.events[0]).toMatchObject({ organization_id: "named", actor: { member_id: "member-9" } });
    expect(await verify(person.text, keys, { checkpoints: [], end: before.end })).toMatchObject({
      complete: true,
    });
    const [problem] = (await verify(person.text.replaceAll("member-9", "member-8"), keys)).faults;
    expect([problem?.kind, problem?.event_id]).toEqual(["changed", person.events[0]?.id ?? ""]);
  });

  test("verifies events with any text that they may have", async () => {
    const path = "/organizations/texts/audit-events";
    const details = [
      { half: "\ud83d", "\udc00": "other half", "\u0000": "\u0000", "\u2028": "é\u0301" },
      JSON.parse(
        '{"__proto__":{"a":[1e21,-0,0.1,1e-7,9007199254740993,4.50]},"10":1,"9":2,"":null,"constructor":true}',
      ),
      { "\ud83d\ude00": 1, "\ufb33": 2, "\u20ac": 3, "\r": 4, "1": 5, "\u0080": 6, ö: 7, "</script>": 8 },
      {},
    ];
    for (const item of details) {
      const id = requestId();
      await audit.put(
        id,
        intent({
          organization_id: "texts",
          user_agent: '"\\ \u007f\u2029𝒳',
          params: { é: "\n", __proto: "x" },
        }),
      );
      await audit.patch(id, { outcome: "responded", status: 200, details: item });
    }
    const { text } = await exportProof(audit, path);
    expect(await verify(text, await keysOf(audit))).toMatchObject({ complete: true, events: details.length });
  });

  // AU-61
  test("covers a whole log: every filter parameter is refused by name", async () => {
    const filters = [
      ...[
        "service=s",
        "method=GET",
        "outcome=pending",
        "request_id=r",
        "created_id=c",
        "actor_member_id=m",
        "route=/r",
      ],
      ...["params[a]=b", "occurred_after=2026-01-01T00:00:00Z", "occurred_before=2026-01-01T00:00:00Z"],
      "starting_after=01KA4YB0Q9X3M5N7P8R2S6T1VW",
    ];
    for (const filter of filters) {
      const response = await audit.get(`${ORGANIZATION_LOG}?proof=true&${filter}`, NDJSON);
      expect(await wrongFields(response)).toEqual([filter.split("=")[0] ?? ""]);
    }
    const response = await audit.get(`${ORGANIZATION_LOG}?proof=true&service=s&method=GET`, NDJSON);
    expect((await wrongFields(response)).sort()).toEqual(["method", "service"]);
    expect((await audit.get(`${ORGANIZATION_LOG}?proof=true&limit=1`, NDJSON)).status).toBe(200);
  });

  // AU-61
  test("is NDJSON if the request accepts it, and 422 otherwise", async () => {
    for (const Accept of ["*/*", "application/*", "application/json, application/x-ndjson;q=0.1"]) {
      const response = await audit.get(`${ORGANIZATION_LOG}?proof=true`, { Accept });
      expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "application/x-ndjson"]);
      await response.text();
    }
    for (const Accept of ["application/json", "text/csv", "application/x-ndjson;q=0"]) {
      expect(await wrongFields(await audit.get(`${ORGANIZATION_LOG}?proof=true`, { Accept }))).toEqual([
        "proof",
      ]);
    }
    for (const value of ["1", "TRUE", "", "yes"]) {
      expect(await wrongFields(await audit.get(`${ORGANIZATION_LOG}?proof=${value}`, NDJSON))).toEqual([
        "proof",
      ]);
    }
    expect(await wrongFields(await audit.get(`${ORGANIZATION_LOG}?proof=true&proof=true`, NDJSON))).toEqual([
      "proof",
    ]);
    const page = await audit.get(`${ORGANIZATION_LOG}?proof=false&service=nothing`);
    expect(await json(page)).toEqual({ audit_events: [], has_more: false });
  });

  // AU-77
  test("is refused after any edit of its lines", async () => {
    await writeEvents(audit, 3, { organization_id: "edited" });
    const whole = await exportProof(audit, "/organizations/edited/audit-events");
    const [third, second, first] = whole.events;
    if (!first || !second || !third) throw new Error("The log has fewer than three events.");
    const { end } = whole;
    const kindOf = async (text: string) => (await verify(text)).faults[0]?.kind;
    const of = (events: typeof whole.events) => exportText({ events, end });
    expect(await kindOf(of([third, second]))).toBe("removed");
    expect(await kindOf(of([third, first]))).toBe("removed");
    expect(await kindOf(of([second, first]))).toBe("removed");
    expect(await kindOf(of([third, second, second, first]))).toBe("added");
    expect(await kindOf(of([third, first, second]))).toBe("moved");
    expect(
      await kindOf(of([third, { ...second, proof: first.proof }, { ...first, proof: second.proof }])),
    ).toBe("changed");
    expect(await kindOf(of([third, { ...second, status: 299 }, first]))).toBe("changed");
    const lines = whole.text.trimEnd().split("\n");
    expect(await kindOf(`${lines.slice(0, -1).join("\n")}\n`)).toBe("unreadable");
    expect(await kindOf(`${lines.join("\n")}\n${lines[0]}\n`)).toBe("unreadable");
    expect(await kindOf(`{"a":1}\n${lines.join("\n")}\n`)).toBe("unreadable");
    expect(await kindOf(`${"[".repeat(50_000)}\n${lines.join("\n")}\n`)).toBe("unreadable");
    expect(await kindOf(whole.text.replace('"ip":', '"more":1,"ip":'))).toBe("unreadable");
    // JSON parsers differ in which of two equal members they use, and in how many digits they keep. The
    // verifier refuses such texts.
    const twice = whole.text.replace('"ip":', '"ip":"203.0.113.9","ip":');
    expect((await verify(twice)).faults[0]?.message).toBe(
      'Line 1 is not I-JSON: an object has two members with the name "ip".',
    );
    const digits = whole.text.replace('"status":201', '"status":201.00000000000000000001');
    expect((await verify(digits)).faults[0]?.message).toContain("a double cannot represent the number");
    expect(await kindOf("")).toBe("unreadable");
  });

  // AU-59
  test("without signatures is refused by a reader with an earlier signed checkpoint", async () => {
    await writeEvents(audit, 1, { organization_id: "unsigned" });
    const path = "/organizations/unsigned/audit-events";
    const { end: earlier } = await exportProof(audit, path);
    if (earlier.checkpoint === null) throw new Error("The log is not sealed.");
    await writeEvents(audit, 1, { organization_id: "unsigned" });
    const { events, end } = await exportProof(audit, path);
    const unsigned = { ...end, checkpoint: end.checkpoint && { ...end.checkpoint, jws: null } };
    const text = exportText({ events, end: { ...unsigned, recent_checkpoints: [], keys: end.keys } });
    const verdict = await verify(text, null, { checkpoints: [earlier.checkpoint], end: null });
    expect(verdict.faults.map(({ message }) => message)).toContain(
      `Checkpoint ${end.checkpoint?.number} is not signed.`,
    );
  });

  // AU-60
  test("has its checkpoints in a public list, newest first and in pages", async () => {
    await writeEvents(audit, 1, { organization_id: "listed" });
    await exportProof(audit, "/organizations/listed/audit-events");
    const list = async (query = "") => json(await audit.get(`/audit-checkpoints${query}`));
    const all = await list("?limit=100");
    const newest = all.audit_checkpoints[0].number;
    const numbers = Array.from({ length: newest }, (_, index) => newest - index);
    expect(all.audit_checkpoints.map(({ number }: { number: number }) => number)).toEqual(numbers);
    expect(await list(`?starting_after=${newest}&limit=1`)).toEqual({
      audit_checkpoints: all.audit_checkpoints.slice(1, 2),
      has_more: newest > 2,
    });
    expect((await audit.get("/audit-checkpoints?starting_after=x")).status).toBe(422);
  });

  // AU-60
  test("of events that were sealed with an earlier key is verified with the set of both keys", async () => {
    const first = writeSigningKey();
    const started = await startProvenAudit({ env: { AUDIT_SIGNING_KEY_FILE: first } });
    await writeEvents(started, 2);
    const before = await exportProof(started);
    await started.stop();
    // An embedded database lasts only as long as its service, so there is nothing to verify.
    if (started.databaseUrl.startsWith("pglite:")) return;
    await using second = await startProvenAudit({ databaseUrl: started.databaseUrl });
    const keys = await keysOf(second);
    expect(keys).toHaveLength(2);
    expect((await exportProof(second)).end.checkpoint).toEqual(before.end.checkpoint);
    expect(await verify((await exportProof(second)).text, keys)).toMatchObject({ complete: true });
    await writeEvents(second, 2);
    const after = await exportProof(second);
    expect(await verify(after.text, keys, { checkpoints: [], end: before.end })).toMatchObject({
      complete: true,
    });
    // A reader who trusts only the new key is told that another key signed the checkpoint and the root.
    const { faults } = await verify(before.text, keys.slice(0, 1));
    const messages = faults.map(({ message }) => message).join();
    expect(messages).toContain("is not signed by any of the given keys");
    expect(messages).toContain("The root of the tree of checkpoints is not signed by any");
  });
});

// AU-58
describe("without a signing key", () => {
  const audit = sharedAudit({ env: { SEAL_INTERVAL_MS: "100" } });

  test("chains are still built, and the verifier reports them as unsigned", async () => {
    await writeEvents(audit, 2);
    const { text, end } = await exportProof(audit);
    expect(end.checkpoint?.jws).toBeNull();
    expect(await keysOf(audit)).toEqual([]);
    const verdict = await verify(text);
    expect(verdict).toMatchObject({ complete: true, checkpoint: { kid: null } });
    expect(verdict.not_shown.join()).toContain(
      "anyone who can write the database can have rewritten all of it",
    );
    expect((await verify(text, [])).faults[0]?.message).toBe(
      `Checkpoint ${end.checkpoint?.number} is not signed.`,
    );
  });
});
