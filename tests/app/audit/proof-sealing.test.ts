import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { auditVariables } from "@ostiary/audit/config";
import { MIGRATIONS } from "@ostiary/audit/database-schema";
import { makePartitions } from "@ostiary/audit/partitions/commands";
import { type PassDeps, sealPass } from "@ostiary/audit/sealing/seal-pass";
import { SealedState } from "@ostiary/audit/sealing/sealed-state";
import { selectState } from "@ostiary/audit/sealing/sealer-state-sql";
import { systemClock } from "@ostiary/lib/async";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { sql } from "drizzle-orm";
import { freshDatabase, services, waitFor } from "../../support/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import {
  type AuditService,
  intent,
  newLog,
  openLog,
  requestId,
  sqlOn,
  startAudit,
  userIntent,
} from "./audit-service.ts";
import {
  exportProof,
  keysOf,
  ORGANIZATION_LOG,
  startProvenAudit,
  verify,
  writeEvents,
  writeSigningKey,
} from "./proof-bed.ts";

const silent = async () => {
  const env = { DATABASE_URL: "pglite://memory", LOG_FILE: "/dev/null" };
  return (await createTelemetry({ name: "audit", namespace: "audit" }, loadConfig(auditVariables, env))).log;
};

/** Writes an event and calls `written`, in a transaction that stays open until `held` resolves. */
function writeHeld(log: Database, id: string, held: Promise<void>, written: () => void): Promise<void> {
  return log.transaction("held", async (tx) => {
    await rows(
      tx,
      sql`with made as (
        insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service, method,
          route, params, ip)
        values (${id}, ${id}, now(), 'organization-1', 'jwt', 's', 'GET', '/', '{}', '::') returning id, occurred_at)
      insert into audit.request_ids (id, request_id, occurred_at) select id, id, occurred_at from made`,
    );
    written();
    await held;
  });
}

describe.skipIf(!services().postgres.real)("the sealer", () => {
  // AU-54
  test("gives an event that commits late a position after sealed ones, and waits for no transaction", async () => {
    await using audit = await startProvenAudit();
    await using log = await openLog(audit);
    await writeEvents(audit, 2);
    const [late, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // This id sorts before those of the next events, so the ids and the positions have different orders.
    const id = `${(await exportProof(audit)).events[0]?.id.slice(0, 10)}${"Z".repeat(16)}`;
    const holding = writeHeld(log, id, late.promise, written.resolve);
    await written.promise;
    await writeEvents(audit, 2);
    const before = await exportProof(audit);
    expect(before.events).toHaveLength(4);
    late.resolve();
    await holding;
    const after = await exportProof(audit);
    expect(after.events.find((event) => event.id === id)?.proof.intent?.position).toBe(
      before.end.head.position + 1,
    );
    const verdict = await verify(after.text, await keysOf(audit), { checkpoints: [], end: before.end });
    expect(verdict).toMatchObject({ complete: true, events: 5 });
  });

  // AU-53
  test("gives events positions in the order of their commits, whichever replica writes them", async () => {
    const databaseUrl = await freshDatabase();
    const env = { AUDIT_SIGNING_KEY_FILE: writeSigningKey(), SEAL_INTERVAL_MS: "50" };
    const replicas = await Promise.all([0, 1, 2].map(() => startProvenAudit({ databaseUrl, env })));
    const replica = (n: number): AuditService => replicas[n % replicas.length] ?? replicas[0] ?? raise();
    try {
      const ids: string[] = [];
      for (let n = 0; n < 60; n++) {
        ids.push(requestId());
        await replica(n).put(ids[n] ?? "", intent());
        if (n > 0) await replica(n + 1).patch(ids[n - 1] ?? "", { outcome: "rejected", status: 403 });
      }
      const { events, text } = await exportProof(replica(0));
      const written = ids.flatMap((id, n) => [`${id} intent`, ...(n > 0 ? [`${ids[n - 1]} outcome`] : [])]);
      const places = events.flatMap(({ request_id, proof }) => [
        { at: proof.intent?.position ?? 0, what: `${request_id} intent` },
        ...(proof.outcome === null ? [] : [{ at: proof.outcome.position, what: `${request_id} outcome` }]),
      ]);
      expect(places.toSorted((a, b) => a.at - b.at).map(({ what }) => what)).toEqual(written);
      expect(await verify(text, await keysOf(replica(1)))).toMatchObject({ complete: true, events: 60 });
    } finally {
      await Promise.all(replicas.map((service) => service.stop()));
    }
  });

  // AU-53
  test("leaves no gap and no duplicate when two replicas write and seal at once", async () => {
    const databaseUrl = await freshDatabase();
    const env = { AUDIT_SIGNING_KEY_FILE: writeSigningKey(), SEAL_INTERVAL_MS: "50" };
    const replicas = await Promise.all([0, 1].map(() => startProvenAudit({ databaseUrl, env })));
    try {
      await Promise.all(
        Array.from({ length: 400 }, async (_, n) => {
          const service = replicas[n % 2] ?? raise();
          const id = requestId();
          await service.put(id, n % 4 === 0 ? userIntent() : intent());
          if (n % 10 === 0) return;
          const named = n % 8 === 0 ? { organization_id: "organization-1", member_id: "member-2" } : {};
          await (replicas[(n + 1) % 2] ?? raise()).patch(id, { outcome: "responded", status: 200, ...named });
        }),
      );
      const [first = raise(), second = raise()] = replicas;
      const keys = await keysOf(first);
      const organization = await exportProof(first);
      expect(await verify(organization.text, keys)).toMatchObject({ complete: true, events: 340 });
      const person = await exportProof(second, "/users/user-1/audit-events");
      expect(await verify(person.text, keys)).toMatchObject({ complete: true, events: 100 });
    } finally {
      await Promise.all(replicas.map((service) => service.stop()));
    }
  });

  // AU-55
  test("seals once when five sealers start from the same state, and the others do nothing", async () => {
    // The service waits a minute between its own passes, so that it does not seal during this test.
    await using audit = await startProvenAudit({ env: { SEAL_INTERVAL_MS: "60000" } });
    await using log = await openLog(audit);
    await writeEvents(audit, 5);
    const state = await selectState(log);
    const quiet = await silent();
    const deps = (): PassDeps => ({
      reads: log,
      writes: log,
      key: null,
      origin: "log.example/a",
      sealed: new SealedState(log),
      clock: systemClock,
      log: quiet,
      holder: "a test",
    });
    const results = await Promise.all(Array.from({ length: 5 }, () => sealPass(deps(), state)));
    expect(results.map(({ end }) => end).toSorted()).toEqual(["done", "lost", "lost", "lost", "lost"]);
    const [{ entries, places } = raise()] = await sqlOn(log)<{ entries: number; places: number }>`
      select count(*) as entries, max(position) as places from audit.entries`;
    expect([entries, places]).toEqual([9, 9]);
  });

  // AU-176
  test("continues at once after the sealing replica dies and the database clock is set back an hour", async () => {
    await using audit = await startProvenAudit();
    await using log = await openLog(audit);
    await writeEvents(audit, 3);
    await exportProof(audit);
    await sqlOn(log)`
      update audit.sealer set holder = 'dead', passed_at = clock_timestamp() + interval '1 hour'`;
    await writeEvents(audit, 3);
    const { text, end } = await waitFor(() => exportProof(audit));
    expect(end.head.position).toBe(10);
    expect(await verify(text, await keysOf(audit))).toMatchObject({ complete: true, events: 6 });
  });

  test.each([
    ["a log that is signed", startProvenAudit],
    ["a log without a key", () => startAudit({ env: { SEAL_INTERVAL_MS: "100" } })],
  ])(
    "continues in a database that was restored to a server with lower transaction ids: %s",
    async (_, start) => {
      await using audit = await start();
      await using log = await openLog(audit);
      await writeEvents(audit, 3);
      const before = await exportProof(audit);
      await sqlOn(log)`update audit.sealer set sealed_to = '4000000000:4000000000:'`;
      await writeEvents(audit, 3);
      const complete = async () => {
        const { text } = await exportProof(audit);
        const keys = await keysOf(audit);
        return verify(text, keys.length === 0 ? null : keys, { checkpoints: [], end: before.end });
      };
      let verdict = await complete();
      while (verdict.events < 6) verdict = await complete();
      expect(verdict).toMatchObject({ complete: true, events: 6 });
    },
  );
});

test("the sealer works in an embedded database too", async () => {
  await using audit = await startProvenAudit({ databaseUrl: "pglite://memory" });
  await writeEvents(audit, 3);
  const { text } = await exportProof(audit);
  expect(await verify(text, await keysOf(audit))).toMatchObject({ complete: true, events: 3, pending: 1 });
});

// AU-69
describe.skipIf(!services().postgres.real)("an upgrade of a log from before its proof", () => {
  let audit: AuditService;
  let log: Database;

  beforeAll(async () => {
    const databaseUrl = await freshDatabase();
    log = await newLog(databaseUrl, await migrationsBefore("0001_proof"));
    await sqlOn(log)`create table audit.all_time partition of audit.audit_events default`;
    await sqlOn(log)`
      with made as (
        insert into audit.audit_events (id, request_id, occurred_at, organization_id, user_id, actor_auth_type, service,
        method, route, params, ip, outcome, status, details)
        select '01DXF6DT0' || lpad(n::text, 17, '0'), 'older-' || n, '2020-01-01'::timestamptz + n * interval '1 s',
        case when n % 3 < 2 then 'organization-1' end, case when n % 3 > 0 then 'user-1' end,
        'jwt', 's', 'GET', '/', '{}', '::', case when n % 5 = 0 then 'pending' else 'responded' end,
        case when n % 5 = 0 then null else 200 end, case when n % 5 = 0 then null else '{"n":1}'::json end
        from generate_series(1, 6000) n returning id, request_id, occurred_at)
        insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made`;
    await sqlOn(log)`alter table audit.audit_events detach partition audit.all_time`;
    await sqlOn(log)`
      alter table audit.audit_events attach partition audit.all_time for values from ('2020-01-01') to ('2020-02-01')`;
    audit = await startProvenAudit({ databaseUrl });
  });
  afterAll(async () => {
    await log.close();
    await audit.stop();
  });

  const USER_LOG = "/users/user-1/audit-events";

  test("seals old events first, each log from its start, then new ones, and all of them verify", async () => {
    await writeEvents(audit, 2);
    await audit.patch("older-5", {
      outcome: "responded",
      status: 201,
      organization_id: "organization-2",
      member_id: "m",
    });
    const keys = await keysOf(audit);
    for (const [path, events] of [
      [ORGANIZATION_LOG, 4002],
      [USER_LOG, 4000],
      ["/organizations/organization-2/audit-events", 1],
    ] as const) {
      const whole = async () => (await exportProof(audit, path)).events.length === events;
      await waitFor(whole, { what: `the proof of ${events} events`, timeoutMs: 50_000 });
      const { text, end } = await exportProof(audit, path);
      expect(await verify(text, keys)).toMatchObject({ complete: true, events });
      expect(end.dropped).toBeNull();
    }
    await log.transaction("tamper", async (tx) => {
      await rows(tx, sql`set local session_replication_role = replica`);
      await rows(tx, sql`update audit.audit_events set ip = '::1' where request_id = 'older-7'`);
    });
    const { faults, faults_total } = await verify((await exportProof(audit, USER_LOG)).text, keys);
    expect([faults_total, faults[0]?.kind]).toEqual([1, "changed"]);
  }, 60_000);
});

test.skipIf(!services().postgres.real)("an upgrade leaves no intent without a position", async () => {
  const databaseUrl = await freshDatabase();
  await using log = await newLog(databaseUrl, await migrationsBefore("0004_intents_by_xid"));
  await makePartitions(log, Date.now());
  for (const n of [1, 2, 3]) {
    await writeHeld(log, `01DXF6DT00000000000000000${n}`, Promise.resolve(), () => {});
  }
  await using audit = await startProvenAudit({ databaseUrl });
  await writeEvents(audit, 2);
  const whole = async () => (await exportProof(audit)).events.length === 5;
  await waitFor(whole, { what: "the proof of five events" });
  const verdict = await verify((await exportProof(audit)).text, await keysOf(audit));
  expect(verdict).toMatchObject({ complete: true, events: 5 });
});

/** Copies the folder of migrations without the migration `tag` and all later ones. Returns the new path. */
async function migrationsBefore(tag: string): Promise<string> {
  const folder = temporaryFolder("migrations");
  await cp(MIGRATIONS, folder, { recursive: true });
  const journal = join(folder, "meta/_journal.json");
  const { entries, ...rest } = JSON.parse(await readFile(journal, "utf8"));
  const before = entries.slice(
    0,
    entries.findIndex((entry: { tag: string }) => entry.tag === tag),
  );
  await writeFile(journal, JSON.stringify({ ...rest, entries: before }));
  return folder;
}

function raise(): never {
  throw new Error("The list is empty.");
}
