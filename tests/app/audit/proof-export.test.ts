import { describe, expect, test } from "bun:test";
import { wordsOf } from "../../support/words.ts";
import { intent, json, logOf, requestId, sharedAudit, userIntent, wrongFields } from "./bed.ts";
import {
  asKept,
  exportProof,
  found,
  keptRoot,
  ORGANIZATION_LOG,
  startProvenAudit,
  verifierKeyOf,
  verify,
  writeEvents,
  writeSigningKey,
} from "./proof-bed.ts";

const NDJSON = { Accept: "application/x-ndjson" };

describe("an export with proof", () => {
  const keyFile = writeSigningKey();
  const key = verifierKeyOf(keyFile);
  const audit = sharedAudit({ env: { SEAL_INTERVAL_MS: "100", AUDIT_SIGNING_KEY_FILE: keyFile } });

  // AU-61, AU-62, AU-63, AU-64
  test("has every event that was written before the request, and ends with its head and the signed root", async () => {
    await writeEvents(audit, 4, { organization_id: "whole" });
    const path = logOf("whole");
    const { events, end, text } = await exportProof(audit, path);
    const { audit_events } = await audit.list(path);
    expect(JSON.stringify(events.map(({ proof: _, ...event }) => event))).toBe(JSON.stringify(audit_events));
    expect(events.map(({ proof }) => [proof.intent.position, proof.outcome?.position])).toEqual([
      [7, undefined],
      [5, 6],
      [3, 4],
      [1, 2],
    ]);
    expect(end.head).toMatchObject({
      owner: "organization:whole",
      position: 7,
      chain: events[0]?.proof.intent.chain,
    });
    expect(Object.keys(end).toSorted()).toEqual(
      ["format", "head", "heads", "keys", "leaf", "map", "note", "path"].toSorted(),
    );
    expect(end.keys).toEqual([key]);
    const given = { owner: "organization:whole" };
    expect(await verify(text, key, given)).toMatchObject({
      result: "complete",
      events: 4,
      pending: 1,
      entries: 7,
    });
    const { result } = await verify(text, key, { owner: "organization:other" });
    expect(result).toBe("altered");
  });

  test("of a log without events is proven to be empty", async () => {
    await writeEvents(audit, 1);
    await exportProof(audit);
    const { events, end, text } = await exportProof(audit, "/users/nobody/audit-events");
    expect([events, end.head.position]).toEqual([[], 0]);
    expect(await verify(text, key)).toMatchObject({ result: "complete", events: 0 });
  });

  // AU-199
  test("of a log without events is undecided before the first pass", async () => {
    await using unused = await startProvenAudit();
    const { end, text } = await exportProof(unused);
    expect([end.head.position, end.leaf, end.note, end.map]).toEqual([0, null, null, { path: [] }]);
    expect(await verify(text)).toMatchObject({ result: "undecided", events: 0 });
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
    const person = await exportProof(audit, "/users/person-1/audit-events");
    const organization = await exportProof(audit, logOf("named"));
    for (const { text } of [before, person, organization]) {
      expect(await verify(text, key)).toMatchObject({ result: "complete", events: 1 });
    }
    expect(organization.text).not.toContain("person-1");
    expect(organization.events[0]?.proof).toMatchObject({
      intent: { position: 1 },
      outcome: { position: 2, intent_member_id: "was" },
    });
    expect(person.events[0]).toMatchObject({ organization_id: "named", actor: { member_id: "member-9" } });
    const verdict = await verify(person.text.replaceAll("member-9", "member-8"), key);
    expect(found(verdict)[0]).toMatchObject({ event_id: person.events[0]?.id });
  });

  // AU-144
  test("has the head under each kept root, which suffices to confirm the log, and none of another log", async () => {
    const kept = [];
    for (let n = 0; n < 4; n++) {
      await writeEvents(audit, 1, { organization_id: n < 2 ? "asked" : "other" });
      await exportProof(audit, logOf(n < 2 ? "asked" : "other"));
      kept.push(await keptRoot(audit));
    }
    for (const root of kept) {
      const response = await audit.get(`${logOf("asked")}?proof=true&root=${root.head.size}`, NDJSON);
      const text = await response.text();
      expect(await verify(text, key, { roots: [root] })).toMatchObject({ result: "complete", events: 2 });
      const forged = await asKept(root.text.replace(/\n[A-Za-z0-9+/]{43}=\n/, `\n${"A".repeat(43)}=\n`));
      expect(await verify(text, key, { roots: [forged] })).toMatchObject({ result: "altered" });
    }
  });

  // AU-144
  test.each([
    ["root=999999&proof=true", "The log has no root of 999999 leaves"],
    ["root=0&proof=true", "must be the size of a signed root"],
    ["root=1.5&proof=true", "must be the size of a signed root"],
    ["root=9999999999999999&proof=true", "must be the size of a signed root"],
    ["root=1&root=2&proof=true", "root"],
    ["root=1", "root needs proof=true"],
  ])("is 422 for ?%s", async (query, message) => {
    const response = await audit.get(`${logOf("asked")}?${query}`, NDJSON);
    expect(response.status).toBe(422);
    expect(JSON.stringify(await response.json())).toContain(message);
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
    expect(await verify(text, key)).toMatchObject({ result: "complete", events: details.length });
  });

  // AU-61
  test("covers a whole log: every filter parameter is refused by name", async () => {
    const filters = [
      ...wordsOf(`
        service=s method=GET outcome=pending request_id=r created_id=c actor_member_id=m route=/r
        params[a]=b occurred_after=2026-01-01T00:00:00Z occurred_before=2026-01-01T00:00:00Z
      `),
      "starting_after=01KA4YB0Q9X3M5N7P8R2S6T1VW",
    ];
    const response = await audit.get(`${ORGANIZATION_LOG}?proof=true&${filters.join("&")}`, NDJSON);
    expect((await wrongFields(response)).toSorted()).toEqual(
      filters.map((filter) => filter.split("=")[0] ?? "").toSorted(),
    );
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
});
