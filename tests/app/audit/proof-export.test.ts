import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { services } from "../../support/index.ts";
import { intent, json, openLog, requestId, sharedAudit, userIntent, wrongFields } from "./audit-service.ts";
import {
  exportProof,
  exportText,
  keysOf,
  ORGANIZATION_LOG,
  readExport,
  signingKeyFile,
  startProvenAudit,
  verify,
  writeEvents,
} from "./proof-bed.ts";

const NDJSON = { Accept: "application/x-ndjson" };

describe("an export with proof", () => {
  const audit = sharedAudit({ env: { SEAL_INTERVAL_MS: "100", AUDIT_SIGNING_KEY_FILE: signingKeyFile() } });

  test("holds everything that was written before it was asked for, and ends with its head and checkpoint", async () => {
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

  test("of a log without events says so", async () => {
    const { events, end, text } = await exportProof(audit, "/users/nobody/audit-events");
    expect([events, end.head.position, end.checkpoint]).toEqual([[], 0, null]);
    expect(await verify(text)).toMatchObject({ complete: true, events: 0, checkpoint: null });
  });

  test("keeps the person out of the organization's log, and proves the event in both", async () => {
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
    const [fault] = (await verify(person.text.replaceAll("member-9", "member-8"), keys)).faults;
    expect([fault?.kind, fault?.event_id]).toEqual(["changed", person.events[0]?.id ?? ""]);
  });

  test("holds every text that an event may have", async () => {
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

  test("is about a whole log: whatever narrows it down is refused, each by its name", async () => {
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

  test("is NDJSON for whoever takes that, and for nobody else", async () => {
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

  test("that somebody edits is refused, whatever they do to its lines", async () => {
    await writeEvents(audit, 3, { organization_id: "edited" });
    const whole = await exportProof(audit, "/organizations/edited/audit-events");
    const [third, second, first] = whole.events;
    if (!first || !second || !third) throw new Error("three events");
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
    expect(await kindOf("")).toBe("unreadable");
  });

  test("shows what was sealed with a key that was changed since, by the key set of both", async () => {
    const first = signingKeyFile();
    const started = await startProvenAudit({ env: { AUDIT_SIGNING_KEY_FILE: first } });
    await writeEvents(started, 2);
    const before = await exportProof(started);
    await started.stop();
    if (started.database_url.startsWith("pglite:")) return; // it is gone with its process
    const second = await startProvenAudit({ database_url: started.database_url });
    try {
      const keys = await keysOf(second);
      expect(keys).toHaveLength(2);
      expect((await exportProof(second)).end.checkpoint).toEqual(before.end.checkpoint);
      expect(await verify((await exportProof(second)).text, keys)).toMatchObject({ complete: true });
      await writeEvents(second, 2);
      const after = await exportProof(second);
      expect(await verify(after.text, keys, { checkpoints: [], end: before.end })).toMatchObject({
        complete: true,
      });
      // who trusts the new key alone is told of the old one
      const [fault] = (await verify(before.text, keys.slice(0, 1))).faults;
      expect(fault?.message).toContain("signed by a key that is not among those given");
    } finally {
      await second.stop();
    }
  });
});

describe("without a key", () => {
  const audit = sharedAudit({ env: { SEAL_INTERVAL_MS: "100" } });

  test("chains are made all the same, and nobody takes them for signed", async () => {
    await writeEvents(audit, 2);
    const { text, end } = await exportProof(audit);
    expect(end.checkpoint?.jws).toBeNull();
    expect(await keysOf(audit)).toEqual([]);
    expect(await verify(text)).toMatchObject({ complete: true, checkpoint: { kid: null } });
    expect((await verify(text, [])).faults[0]?.message).toMatch(/^Checkpoint [12] is not signed\.$/);
  });
});

describe.skipIf(!services().postgres.real)("months that are dropped", () => {
  let log: Database;
  const audit = sharedAudit({ env: { SEAL_INTERVAL_MS: "100", AUDIT_SIGNING_KEY_FILE: signingKeyFile() } });
  beforeAll(async () => {
    log = await openLog(audit);
  });
  afterAll(() => log.close());

  const path = "/organizations/kept/audit-events";
  const run = (statement: string) => log.run("run", (orm) => rows(orm, sql.raw(statement)));

  test("leave their chain values behind, so that the rest still verifies", async () => {
    await run(
      `create table audit.audit_events_2020_01 (like audit.audit_events including all);
      alter table audit.audit_events attach partition audit.audit_events_2020_01
        for values from ('2020-01-01') to ('2020-02-01')`.replace(/;[\s\S]*/, ""),
    );
    await run(`alter table audit.audit_events attach partition audit.audit_events_2020_01
        for values from ('2020-01-01') to ('2020-02-01')`);
    await run(`with made as (
        insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service, method,
          route, params, ip)
        select '01DXF6DT0' || lpad(n::text, 17, '0'), 'old-' || n, '2020-01-01T00:00:00Z', 'kept', 'jwt', 's', 'GET',
          '/', '{}', '::' from generate_series(1, 3) n returning id, request_id, occurred_at)
      insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made`);
    await exportProof(audit, path);
    await writeEvents(audit, 2, { organization_id: "kept" });
    const keys = await keysOf(audit);
    const before = await exportProof(audit, path);
    expect(await verify(before.text, keys)).toMatchObject({ complete: true, events: 5, dropped_entries: 0 });

    await run("drop table audit.audit_events_2020_01");
    const after = await exportProof(audit, path);
    const verdict = await verify(after.text, keys, { checkpoints: [], end: before.end });
    expect(verdict).toMatchObject({ complete: true, events: 2, dropped_entries: 3 });
    expect(after.end.dropped?.ranges).toMatchObject([{ from: 1, to: 3 }]);

    // what is missing besides is not excused by that
    const [newest, oldest] = after.events;
    if (!newest || !oldest) throw new Error("two events");
    const { faults } = await verify(exportText({ ...after, events: [newest] }), keys);
    expect(faults[0]).toMatchObject({ kind: "removed", position: 4 });
    // of how much was dropped there is the keeper's word alone, but it must have been the oldest
    const stretched = {
      ...after.end,
      dropped: {
        occurred_before: after.end.dropped?.occurred_before ?? "",
        ranges: [{ from: 1, to: 5, chain: oldest.proof.outcome?.chain ?? "" }],
      },
    };
    expect((await verify(exportText({ events: [newest], end: stretched }), keys)).complete).toBe(true);
    const late = {
      ...stretched,
      dropped: {
        ...stretched.dropped,
        ranges: [
          ...(after.end.dropped?.ranges ?? []),
          { from: 6, to: 6, chain: newest.proof.intent?.chain ?? "" },
        ],
      },
    };
    expect((await verify(exportText({ events: [oldest], end: late }), keys)).faults[0]?.message).toContain(
      "newer events",
    );
  });

  test("of nobody's log change nothing in another", async () => {
    expect(
      readExport((await exportProof(audit, "/organizations/fresh/audit-events")).text).end.dropped,
    ).toBeNull();
  });
});
