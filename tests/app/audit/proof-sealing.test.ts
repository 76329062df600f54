import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { makePartitions } from "@ostiary/audit/partitions/commands";
import { restartTree } from "@ostiary/audit/proof/restart/restart-tree";
import { sealPass } from "@ostiary/audit/proof/seal/seal-pass";
import { systemClock } from "@ostiary/lib/async";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { freshDatabase, rejection, services, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import {
  type AuditService,
  intent,
  logOf,
  newLog,
  openLog,
  requestId,
  sqlOn,
  startAudit,
  userIntent,
} from "./audit-service.ts";
import {
  asKept,
  cloned,
  exportProof,
  found,
  keptRoot,
  ORGANIZATION_LOG,
  startProvenAudit,
  tamperWith,
  verifierKeyOf,
  verify,
  writeEvents,
  writeKeyFile,
  writeSigningKey,
} from "./proof-bed.ts";
import { makeMonth, passDeps, writePast } from "./retention-bed.ts";

setDefaultTimeout(60_000);

const onServer = describe.skipIf(!services().postgres.real);

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

onServer("the sealer", () => {
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
    expect(after.events.find((event) => event.id === id)?.proof.intent.position).toBe(
      before.end.head.position + 1,
    );
    expect(await verify(after.text)).toMatchObject({ result: "complete", events: 5 });
  });

  // AU-53
  test("gives events positions in the order of their commits, whichever replica writes them", async () => {
    const replicas = await startReplicas(3);
    try {
      const replica = (n: number): AuditService => replicas[n % replicas.length] ?? raise();
      const ids: string[] = [];
      for (let n = 0; n < 60; n++) {
        ids.push(requestId());
        await replica(n).put(ids[n] ?? "", intent());
        if (n > 0) await replica(n + 1).patch(ids[n - 1] ?? "", { outcome: "rejected", status: 403 });
      }
      const { events, text } = await exportProof(replica(0));
      const written = ids.flatMap((id, n) => [`${id} intent`, ...(n > 0 ? [`${ids[n - 1]} outcome`] : [])]);
      const places = events.flatMap(({ request_id, proof }) => [
        { at: proof.intent.position, what: `${request_id} intent` },
        ...(proof.outcome === null ? [] : [{ at: proof.outcome.position, what: `${request_id} outcome` }]),
      ]);
      expect(places.toSorted((a, b) => a.at - b.at).map(({ what }) => what)).toEqual(written);
      expect(await verify(text)).toMatchObject({ result: "complete", events: 60 });
    } finally {
      await Promise.all(replicas.map((service) => service.stop()));
    }
  });

  // AU-53, AU-154
  test("leaves no gap and no duplicate when many replicas write and seal at once, and all roots agree", async () => {
    const replicas = await startReplicas(4);
    const replica = (n: number): AuditService => replicas[n % replicas.length] ?? raise();
    try {
      const kept: string[] = [];
      await Promise.all(
        Array.from({ length: 400 }, async (_, n) => {
          const id = requestId();
          await replica(n).put(id, n % 4 === 0 ? userIntent() : intent());
          if (n % 50 === 0) {
            kept.push(
              await waitFor(async () => {
                const root = await replica(n).get("/audit-log/checkpoint");
                return root.status === 200 ? root.text() : null;
              }),
            );
          }
          if (n % 10 === 0) return;
          const named = n % 8 === 0 ? { organization_id: "organization-1", member_id: "member-2" } : {};
          await replica(n + 1).patch(id, { outcome: "responded", status: 200, ...named });
        }),
      );
      for (const text of kept) {
        const root = await asKept(text);
        const answer = await replica(1).get(`${ORGANIZATION_LOG}?proof=true&root=${root.head.size}`, {
          Accept: "application/x-ndjson",
        });
        expect(await verify(await answer.text(), null, { roots: [root] })).toMatchObject({
          result: "complete",
          events: 340,
        });
      }
      const person = await exportProof(replica(1), "/users/user-1/audit-events");
      expect(await verify(person.text)).toMatchObject({ result: "complete", events: 100 });
    } finally {
      await Promise.all(replicas.map((service) => service.stop()));
    }
  });

  // AU-55
  test("seals once when five sealers start from the same state, and the others do nothing", async () => {
    await using log = await newLog();
    await makePartitions(log, Date.now());
    const keyFile = writeSigningKey();
    await writePast(log, "organization-1", new Date().toISOString(), 5);
    const passes = Array.from({ length: 5 }, async () => sealPass(await passDeps(log, keyFile)));
    const ends = (await Promise.all(passes)).map(({ end }) => end);
    expect(ends.filter((end) => end !== "lost").length).toBeGreaterThanOrEqual(1);
    const [{ entries, places } = raise()] = await sqlOn(log)<{ entries: number; places: number }>`
      select count(*) as entries, max(position) as places from audit.entries`;
    expect([entries, places]).toEqual([9, 9]);
    const [{ leaves } = raise()] = await sqlOn(log)<{
      leaves: number;
    }>`select count(*) as leaves from audit.leaves`;
    expect(leaves).toBe(1);
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
    const { text, end } = await exportProof(audit);
    expect(end.head.position).toBe(10);
    expect(await verify(text)).toMatchObject({ result: "complete", events: 6 });
  });

  // AU-91
  test.each([
    ["far forward, as on a server with lower transaction ids", "4000000000:4000000000:"],
    ["back to the start", "3:3:"],
    ["to now", null],
  ])("gives every event one place when the sealer's row is moved %s", async (_, to) => {
    await using audit = await startProvenAudit({ env: { SEAL_INTERVAL_MS: "2000" } });
    await using log = await openLog(audit);
    await writeEvents(audit, 3);
    await exportProof(audit);
    await writeEvents(audit, 3);
    if (to === null) await sqlOn(log)`update audit.sealer set sealed_to = pg_current_snapshot()`;
    else await sqlOn(log)`update audit.sealer set sealed_to = ${to}::text::pg_snapshot`;
    await writeEvents(audit, 1);
    const { text } = await waitFor(() => exportProof(audit).catch(() => null), { timeoutMs: 30_000 });
    expect(await verify(text)).toMatchObject({ result: "complete", events: 7 });
  });

  // AU-54
  test("seals the events of a restored database in the order of their writes, however many there are", async () => {
    await using log = await newLog();
    await makePartitions(log, Date.now());
    const keyFile = writeSigningKey();
    await tamperWith(
      log,
      `update audit.sealer set sealed_to = '4000000000:4000000000:';
      with made as (
        insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service,
          method, route, params, ip)
        select case when n > 5000 then '0100001' else '0100000' end || lpad(n::text, 19, '0'), 'r-' || n, now(),
          'organization-1', 'jwt', 's', 'GET', '/', '{}', '::'
        from generate_series(10000, 1, -1) n returning id, request_id, occurred_at)
      insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made`,
    );
    while ((await sealPass(await passDeps(log, keyFile))).end === "behind");
    const [{ early } = raise()] = await sqlOn(log)<{ early: number }>`
      select count(*)::int as early from audit.entries where position <= 5000 and event_id < '0100001'`;
    expect(early).toBe(5000);
  });

  // AU-154
  test("signs a pass that was interrupted before its signature only if it has what was committed", async () => {
    await using log = await newLog();
    await makePartitions(log, Date.now());
    const keyFile = writeSigningKey();
    const now = () => new Date().toISOString();
    const size = async () => {
      const [row] = await sqlOn(log)<{ note: string }>`select note from audit.sealer`;
      return Number(row?.note.split("\n")[1]);
    };
    for (let n = 0; n < 2; n++) {
      await writePast(log, `organization-${n}`, now(), 2);
      await sealPass(await passDeps(log, keyFile));
    }
    const [{ note } = raise()] = await sqlOn(log)<{ note: string }>`select note from audit.sealer`;
    await writePast(log, "organization-0", now(), 2);
    await sealPass(await passDeps(log, keyFile));
    expect(await size()).toBe(3);
    await sqlOn(log)`update audit.sealer set note = ${note}`;
    await tamperWith(
      log,
      "create table audit.kept as select * from audit.audit_events; update audit.audit_events set ip = '::9'",
    );
    expect(String(await rejection(sealPass(await passDeps(log, keyFile))))).toContain(
      "does not have what was committed",
    );
    expect(await size()).toBe(2);
    await tamperWith(log, "update audit.audit_events set ip = '::'");
    for (const time of ["sealed_at - interval '3 days'", "sealed_at + interval '2 hours'", "'9999-01-01Z'"]) {
      await tamperWith(
        log,
        `create table audit.kept_leaf as select * from audit.leaves where number = 3;
        update audit.leaves set sealed_at = ${time} where number = 3`,
      );
      expect(String(await rejection(sealPass(await passDeps(log, keyFile))))).toContain("The time of leaf 3");
      await tamperWith(
        log,
        `update audit.leaves set sealed_at = (select sealed_at from audit.kept_leaf) where number = 3;
        drop table audit.kept_leaf`,
      );
    }
    await sealPass(await passDeps(log, keyFile));
    expect(await size()).toBe(3);
  });

  // AU-154
  test("does not sign an interrupted pass with a time before the month of its events", async () => {
    await using log = await newLog();
    const atMs = Date.parse("2026-02-10T00:00:00.000Z");
    for (const month of ["2026-01", "2026-02"]) await makeMonth(log, month);
    const keyFile = writeSigningKey();
    const at = async (nowMs: number) => ({
      ...(await passDeps(log, keyFile)),
      clock: { ...systemClock, now: () => nowMs },
    });
    await writePast(log, "organization-1", "2026-01-20T00:00:00.000Z", 2);
    await sealPass(await at(Date.parse("2026-01-20T00:00:01.000Z")));
    const [{ note } = raise()] = await sqlOn(log)<{ note: string }>`select note from audit.sealer`;
    await writePast(log, "organization-1", "2026-02-10T00:00:00.000Z", 2);
    await sealPass(await at(atMs));
    await sqlOn(log)`update audit.sealer set note = ${note}`;
    await tamperWith(log, "update audit.leaves set sealed_at = '2026-01-28Z' where number = 2");
    const error = await rejection(sealPass(await at(atMs)));
    expect(String(error)).toContain("The time of leaf 2");
  });

  // AU-155
  test.each([
    [
      "another hash at its edge",
      "update audit.leaves set hashes = decode(repeat('00', length(hashes)), 'hex')",
    ],
    [
      "another last leaf",
      "update audit.leaves set map = sha256('x') where number = (select max(number) from audit.leaves)",
    ],
    ["no last leaves", "delete from audit.leaves where number > 2"],
    [
      "a root that another key signed",
      "update audit.sealer set note = overlay(note placing 'AA' from length(note) - 20)",
    ],
    ["a root that is not a note", "update audit.sealer set note = 'x'"],
    ["no signed root", "update audit.sealer set note = null"],
    ["the root of its map gone", "delete from audit.head_map where path = ''"],
    ["an earlier tree that nobody declared", "insert into audit.trees values (-1, 'earlier', now())"],
  ])("adds nothing to a tree with %s, for a newly started process too", async (_, change) => {
    await using log = await newLog();
    await makePartitions(log, Date.now());
    const keyFile = writeSigningKey();
    for (let n = 0; n < 5; n++) {
      await writePast(log, "organization-1", new Date().toISOString(), 1);
      await sealPass(await passDeps(log, keyFile));
    }
    await tamperWith(log, change);
    await writePast(log, "organization-1", new Date().toISOString(), 1);
    const error = await rejection(sealPass(await passDeps(log, keyFile)));
    expect(error).toMatchObject({ name: "LogAltered" });
    const [{ entries } = raise()] = await sqlOn(log)<{
      entries: number;
    }>`select count(*) as entries from audit.entries`;
    expect(entries).toBe(5);
  });

  // AU-70
  test("signs with all keys of its file while one replaces another", async () => {
    const [old, next] = [writeSigningKey(), writeSigningKey()];
    const read = async (path: string) => Bun.file(path).text();
    const both = writeKeyFile(`${await read(old)}${await read(next)}`);
    let databaseUrl: string | undefined;
    for (const [file, keys] of [
      [old, [old]],
      [both, [old, next]],
      [next, [next]],
    ] as const) {
      const audit = await startProvenAudit({ databaseUrl, env: { AUDIT_SIGNING_KEY_FILE: file } });
      databaseUrl = audit.databaseUrl;
      await writeEvents(audit, 2);
      const { text, end } = await exportProof(audit);
      expect(end.keys).toEqual(keys.map((path) => verifierKeyOf(path)));
      for (const key of keys)
        expect(await verify(text, verifierKeyOf(key))).toMatchObject({ result: "complete" });
      await audit.stop();
    }
  });
});

onServer("a database that was set back", () => {
  /** Returns a log, a backup of it, and the state of the log some events later. */
  async function setBack(keyFile: string) {
    const env = { AUDIT_SIGNING_KEY_FILE: keyFile };
    const first = await startProvenAudit({ env });
    await writeEvents(first, 3);
    await exportProof(first);
    await first.stop();
    const backup = await cloned(first.databaseUrl);
    const second = await startProvenAudit({ env, databaseUrl: first.databaseUrl });
    for (let n = 0; n < 3; n++) {
      await writeEvents(second, 1);
      await exportProof(second);
    }
    const kept = await keptRoot(second);
    await second.stop();
    return { env, backup, kept };
  }

  // AU-66, AU-199
  test("leaves a newer kept root open until the tree has grown, and then refutes it", async () => {
    const { env, backup, kept } = await setBack(writeSigningKey());
    await using restored = await startProvenAudit({ databaseUrl: backup, env });
    const now = await exportProof(restored);
    const open = await verify(now.text, null, { roots: [kept] });
    expect([open.result, found(open).map(({ code }) => code)]).toEqual(["undecided", ["kept_root_newer"]]);
    for (let n = 0; n < 4; n++) {
      await writeEvents(restored, 1);
      await exportProof(restored);
    }
    const answer = await restored.get(`${ORGANIZATION_LOG}?proof=true&root=${kept.head.size}`, {
      Accept: "application/x-ndjson",
    });
    const forked = await verify(await answer.text(), null, { roots: [kept] });
    expect([forked.result, found(forked).map(({ code }) => code)]).toEqual(["altered", ["trees_differ"]]);
  });

  // AU-80
  test("is reported by a replica that runs on, which seals nothing until the rows are back", async () => {
    await using audit = await startProvenAudit();
    await using log = await openLog(audit);
    await writeEvents(audit, 2);
    await exportProof(audit);
    const tables = ["leaves", "head_map", "chains", "entries", "sealer"];
    for (const table of tables)
      await tamperWith(log, `create table audit.back_${table} as select * from audit.${table}`);
    await writeEvents(audit, 2);
    await exportProof(audit);
    for (const table of tables)
      await tamperWith(log, `create table audit.now_${table} as select * from audit.${table}`);
    const put = async (from: string) =>
      tamperWith(
        log,
        tables
          .map(
            (table) =>
              `delete from audit.${table}; insert into audit.${table} select * from audit.${from}_${table}`,
          )
          .join(";"),
      );
    await put("back");
    await audit.put(requestId(), intent({ organization_id: "later" }));
    await waitFor(async () => (await metricOf(audit, "audit_database_set_back")) === 1);
    const answer = await audit.get(`${logOf("later")}?proof=true`, { Accept: "application/x-ndjson" });
    expect(answer.status).toBe(503);
    await put("now");
    await waitFor(async () => (await metricOf(audit, "audit_database_set_back")) === 0);
    expect(await verify((await exportProof(audit, logOf("later"))).text)).toMatchObject({
      result: "complete",
      events: 1,
    });
  });

  // AU-204
  test("has no new tree after a restart --origin that is interrupted before its signature", async () => {
    await using log = await newLog((await setBack(writeSigningKey())).backup);
    const deps = await passDeps(log, writeSigningKey(), "second");
    await tamperWith(
      log,
      "alter table audit.sealer add constraint interrupted check (coalesce(note, '') not like 'second%') not valid",
    );
    await rejection(restartTree(deps));
    expect(await sqlOn(log)`select origin from audit.trees`).toHaveLength(1);
    await tamperWith(log, "alter table audit.sealer drop constraint interrupted");
    await restartTree(deps);
    expect(await sqlOn(log)`select origin from audit.trees`).toHaveLength(2);
  });

  test("goes on under a new name after restart --origin, and every later root and verdict says so", async () => {
    const keyFile = writeSigningKey();
    const { env, backup, kept } = await setBack(keyFile);
    const NAME = "audit.example.com/second";
    {
      await using log = await newLog(backup);
      const deps = await passDeps(log, keyFile, NAME);
      await restartTree(deps);
      await expect(restartTree(deps)).rejects.toThrow("already has a tree with the name");
    }
    expect(String(await rejection(startProvenAudit({ databaseUrl: backup, env })))).toContain(
      `AUDIT_LOG_ORIGIN is ostiary/audit-log, and the tree of the log has the name ${NAME}`,
    );
    await using audit = await startProvenAudit({
      databaseUrl: backup,
      env: { ...env, AUDIT_LOG_ORIGIN: NAME },
    });
    await writeEvents(audit, 2);
    const { text, end } = await exportProof(audit);
    expect(end.note).toContain(" ostiary/audit-log\n");
    const verdict = await verify(text, verifierKeyOf(keyFile, NAME));
    expect(verdict).toMatchObject({ result: "complete", events: 5, root: { origin: NAME } });
    expect(verdict.earlier_trees).toMatchObject([{ origin: "ostiary/audit-log" }]);
    expect(found(await verify(text, null, { roots: [kept] }))).toMatchObject([{ code: "root_of_other_log" }]);
    const tile = await audit.get("/audit-log/tile/entries/000.p/1");
    expect((await tile.text()).slice(2)).toContain('"number":0');
  });
});

test("the sealer works in an embedded database too", async () => {
  await using audit = await startProvenAudit({ databaseUrl: "pglite://memory" });
  await writeEvents(audit, 3);
  const { text } = await exportProof(audit);
  expect(await verify(text)).toMatchObject({ result: "complete", events: 3, pending: 1 });
});

// AU-152
test("without a key an export is undecided, nothing is published, and the start says so", async () => {
  const logFile = writeKeyFile("");
  await using audit = await startAudit({
    env: { SEAL_INTERVAL_MS: "100", LOG_FILE: logFile },
    databaseUrl: "pglite://memory",
  });
  await writeEvents(audit, 2);
  const { text, end } = await exportProof(audit);
  expect([end.note, end.path, end.keys]).toEqual([null, [], []]);
  const verdict = await verify(text);
  expect([verdict.result, found(verdict).map(({ code }) => code)]).toEqual(["undecided", ["no_signed_root"]]);
  for (const path of ["/checkpoint", "/tile/0/000.p/1", "/tile/entries/000.p/1"]) {
    expect((await audit.get(`/audit-log${path}`)).status).toBe(404);
  }
  expect(await Bun.file(logFile).text()).toContain("the audit log is not signed");
});

async function startReplicas(count: number): Promise<AuditService[]> {
  const databaseUrl = await freshDatabase();
  const env = { AUDIT_SIGNING_KEY_FILE: writeSigningKey(), SEAL_INTERVAL_MS: "50" };
  return Promise.all(Array.from({ length: count }, () => startProvenAudit({ databaseUrl, env })));
}

function raise(): never {
  throw new Error("The list is empty.");
}
