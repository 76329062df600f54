import { describe, expect, test } from "bun:test";
import { restartChain, restartTree } from "@ostiary/audit/restart";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { declareMonth } from "../../../apps/audit/proof/retention/drop-months.ts";
import type { PassDeps } from "../../../apps/audit/proof/seal/pass-deps.ts";
import { sealAll } from "../../../apps/audit/proof/seal/seal-all.ts";
import { sealPass } from "../../../apps/audit/proof/seal/seal-pass.ts";
import { atTestEnd } from "../../support/at-test-end.ts";
import { summaryOf } from "../../support/audit/verify-lines.ts";
import { freshDatabase, rejection, services, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import {
  type AuditService,
  intent,
  logOf,
  openLog,
  requestId,
  sqlOn,
  startAudit,
  userIntent,
} from "./bed.ts";
import { databaseWith, type OwnLog, ownLog } from "./own-log.ts";
import {
  asKept,
  exportProof,
  found,
  ORGANIZATION_LOG,
  startProvenAudit,
  tamperWith,
  verifierKeyOf,
  verify,
  writeEvents,
  writeKeyFile,
  writeSigningKey,
} from "./proof-bed.ts";
import { insertionOf, makeMonth, passDeps } from "./retention-bed.ts";

const onServer = describe.skipIf(!services().postgres.real);

/** Returns the signed root of a log, and the size of its tree. */
async function rootOf(log: OwnLog) {
  const [{ note } = raise()] = await log.sql<{ note: string }>`select note from audit.sealer`;
  return { note, size: Number(note.split("\n")[1]) };
}

/** Writes an event and calls `written`, in a transaction that stays open until `held` resolves. */
function writeHeld(log: Database, id: string, held: Promise<void>, written: () => void): Promise<void> {
  return log.transaction("held", async (tx) => {
    await rows(tx, sql.raw(insertionOf(1, "'organization-1'", "'{}'", `'${id}'`)));
    written();
    await held;
  });
}

onServer("the sealer", () => {
  // AU-54
  test("gives an event that commits late a position after sealed ones, and waits for no transaction", async () => {
    const log = await ownLog();
    const [first = ""] = await log.sealed(2);
    const [late, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // This id sorts before those of the next events, so the ids and the positions have different orders.
    const id = `${first.slice(0, 10)}${"0".repeat(16)}`;
    const holding = writeHeld(log.database, id, late.promise, written.resolve);
    await written.promise;
    await log.sealed(2);
    const before = await log.proof();
    expect(before.events).toHaveLength(4);
    late.resolve();
    await holding;
    await log.seal();
    const after = await log.proof();
    expect(after.events.find((event) => event.id === id)?.proof.intent.position).toBe(
      before.end.head.position + 1,
    );
    expect(await verify(after.text)).toMatchObject({ result: "complete", events: 5 });
  });

  // AU-53
  test("gives events positions in the order of their commits, whichever replica writes them", async () => {
    const replicas = await startReplicas(2);
    const replica = (n: number): AuditService => replicas[n % replicas.length] ?? raise();
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) {
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
    expect(await verify(text)).toMatchObject({ result: "complete", events: 20 });
  });

  // AU-53, AU-154
  test("leaves no gap and no duplicate when many replicas write and seal at once, and all roots agree", async () => {
    const replicas = await startReplicas(3);
    const replica = (n: number): AuditService => replicas[n % replicas.length] ?? raise();
    const kept: string[] = [];
    await Promise.all(
      Array.from({ length: 160 }, async (_, n) => {
        const id = requestId();
        await replica(n).put(id, n % 4 === 0 ? userIntent() : intent());
        if (n % 40 === 0) {
          const root = await waitFor(async () => {
            const response = await replica(n).get("/audit-log/checkpoint");
            return response.status === 200 ? response.text() : null;
          });
          kept.push(root);
        }
        if (n % 10 === 0) return;
        const named = n % 8 === 0 ? { organization_id: "organization-1", member_id: "member-2" } : {};
        await replica(n + 1).patch(id, { outcome: "responded", status: 200, ...named });
      }),
    );
    for (const text of kept) {
      const root = await asKept(text);
      const { text: whole } = await exportProof(replica(1), ORGANIZATION_LOG, root.head.size);
      expect(await verify(whole, null, { roots: [root] })).toMatchObject({ result: "complete", events: 136 });
    }
    const person = await exportProof(replica(1), "/users/user-1/audit-events");
    expect(await verify(person.text)).toMatchObject({ result: "complete", events: 40 });
  });

  // AU-55
  test("seals once when five sealers start from the same state, and the others do nothing", async () => {
    const log = await ownLog();
    await log.write(5);
    const passes = Array.from({ length: 5 }, async () => sealPass(await passDeps(log.database, log.keyFile)));
    const ends = (await Promise.all(passes)).map(({ end }) => end);
    expect(ends.filter((end) => end !== "lost").length).toBeGreaterThanOrEqual(1);
    const [counts] = await log.sql`select count(*) as entries, max(position) as length,
      (select count(*) from audit.leaves) as leaves from audit.entries`;
    expect(counts).toEqual({ entries: 9, length: 9, leaves: 1 });
  });

  // AU-176
  test("continues at once after the sealing replica dies and the database clock is set back an hour", async () => {
    await using audit = await startProvenAudit();
    await using log = await openLog(audit);
    await writeEvents(audit, 3);
    await exportProof(audit);
    await sqlOn(
      log,
    )`update audit.sealer set holder = 'dead', passed_at = clock_timestamp() + interval '1 hour'`;
    await writeEvents(audit, 3);
    const { text, end } = await exportProof(audit);
    expect(end.head.position).toBe(10);
    expect(await verify(text)).toMatchObject({ result: "complete", events: 6 });
  });

  // AU-54
  test("seals the events of a restored database in the order of their writes, however many there are", async () => {
    const log = await ownLog();
    // Each event has a lower id than the one before it.
    const id = "case when n <= 3000 then '0100001' else '0100000' end || lpad((6001 - n)::text, 19, '0')";
    await log.tamper(`update audit.sealer set sealed_to = '4000000000:4000000000:';
      ${insertionOf(6_000, "'organization-1'", "'{}'", id)}`);
    await log.seal();
    const [{ early } = raise()] = await log.sql<{ early: number }>`
      select count(*)::int as early from audit.entries where position <= 3000 and event_id < '0100001'`;
    expect(early).toBe(3000);
  });

  test("reads in a restored database only events that the sealed snapshot may not cover, however long the log is", async () => {
    const log = await ownLog();
    const [covered, running, after] = ["8000000000", "8000000001", "9000000000"];
    const ids = await log.write(4);
    const numbered = [covered, running, after].map(
      (xid, n) => `update audit.request_ids set xid = '${xid}' where id = '${ids[n]}';
        update audit.audit_events set intent_xid = '${xid}', outcome_xid = '${xid}' where id = '${ids[n]}'`,
    );
    await log.tamper(`${numbered.join(";")};
      update audit.sealer set sealed_to = '${running}:${after}:${running}'`);
    await log.seal();
    const found = await log.sql<{ event_id: string }>`select distinct event_id from audit.entries order by 1`;
    expect(found.map(({ event_id }) => event_id)).toEqual(ids.slice(1));
    // An export finds an event that no snapshot should have covered.
    await log.proof().catch(() => null);
    await log.seal();
    expect(await log.verdict()).toMatchObject({ result: "complete", events: 4 });
  });
});

/** Adds a leaf, which the service's role may do. */
const ADDED_LEAF = `insert into audit.leaves (number, sealed_at, map, hashes)
  values (4, now(), sha256('x'), decode(repeat('00', 512), 'hex'))`;

describe("a log that a test seals", () => {
  // AU-91
  test.each([
    ["far forward, as on a server with lower transaction ids", "'4000000000:4000000000:'"],
    ["back to the start", "'3:3:'"],
    ["to now", "pg_current_snapshot()"],
  ])("has every event once when the sealer's row is moved %s", async (_, to) => {
    const log = await ownLog();
    await log.sealed(3);
    await log.write(3);
    await log.tamper(`update audit.sealer set sealed_to = ${to}`);
    await log.write(1);
    await log.seal();
    // An export finds the event that has no position, and lets the sealer read the log again.
    await log.proof().catch(() => null);
    await log.seal();
    expect(await log.verdict()).toMatchObject({ result: "complete", events: 7 });
  });

  // AU-154
  test("gets the signature of an interrupted pass only if it has what was committed, at a time that can be", async () => {
    const log = await ownLog();
    for (const month of ["2026-01", "2026-02"]) await makeMonth(log.database, month);
    await log.sealed(2, "organization-0", "2026-01-20T00:00:00.000Z");
    await log.sealed(2, "organization-1", "2026-02-10T00:00:00.000Z");
    const { note } = await rootOf(log);
    const now = "2026-02-10T00:00:01.000Z";
    await log.sealed(2, "organization-0", now);
    const refusal = async (change: string, back: string) => {
      await log.restart();
      await log.tamper(`update audit.sealer set note = '${note}';${change}`);
      const error = await rejection(log.seal(now));
      expect((await rootOf(log)).size).toBe(2);
      await log.tamper(back);
      return String(error);
    };
    const changed = await refusal(
      "update audit.audit_events set ip = '::9'",
      "update audit.audit_events set ip = '::'",
    );
    expect(changed).toContain("does not have what was committed");
    const times = ["sealed_at - interval '3 days'", "sealed_at + interval '2 hours'", "'9999-01-01Z'"];
    for (const time of [...times, "'2026-01-28Z'"]) {
      const message = await refusal(
        `update audit.leaves set sealed_at = ${time} where number = 3`,
        `update audit.leaves set sealed_at = '${now}' where number = 3`,
      );
      expect(message).toContain("The time of leaf 3");
    }
    await log.seal(now);
    expect((await rootOf(log)).size).toBe(3);
  });

  const OWNER = "organization:organization-1";
  const RETENTION = { kind: "retention", month: "2026-01", declared_at: "2026-03-01T00:00:00.000Z" } as const;

  // AU-154
  test.each<[string, (deps: PassDeps) => Promise<unknown>]>([
    ["a dropped month", (deps) => declareMonth(deps, [{ owner: OWNER, declaration: RETENTION }])],
    ["a restart", (deps) => restartChain(deps, OWNER)],
  ])("never gets a signature for the declaration of %s that the key did not make", async (_, declared) => {
    const log = await ownLog();
    await log.sealed(2);
    const { note } = await rootOf(log);

    const keyless = await passDeps(log.database, log.keyFile);
    keyless.memory.roots.sign = () => Promise.reject(new Error("no key"));
    await rejection(declared(keyless));
    expect(await log.sql`select from audit.declarations`).toHaveLength(0);

    // what the owner of the tables can write without the key
    await declared(log.deps);
    await log.tamper(`update audit.sealer set note = '${note}'`);
    await log.restart();
    expect(String(await rejection(log.seal()))).toContain("has a declaration without a signature");
    expect((await rootOf(log)).size).toBe(1);
    await log.tamper(`delete from audit.leaves where number = 2; delete from audit.head_map where version = 2;
      delete from audit.declarations; update audit.chains set position = 3, leaf = 1,
        chain = (select chain from audit.entries where position = 3)`);
    await log.sealed(1);
    expect(await log.verdict()).toMatchObject({ result: "complete", events: 3 });
  });

  // AU-154
  test("gets the signature of an interrupted pass although another process seals between two transactions", async () => {
    const log = await ownLog();
    await log.sealed(1);
    const { note } = await rootOf(log);
    await log.sealed(1);
    await log.tamper(`update audit.sealer set note = '${note}'`);
    const other = await passDeps(log.database, log.keyFile);
    let calls = 0;
    const transaction: Database["transaction"] = async (...given) => {
      calls += 1;
      if (calls > 1) {
        await log.write(1);
        await sealAll(other);
      }
      return log.database.transaction(...given);
    };
    const reads = databaseWith(log.database, { transaction });
    await log.restart();
    await sealPass({ ...log.deps, reads });
    expect(await log.verdict()).toMatchObject({ result: "complete" });
  });

  // AU-155
  test.each([
    [
      "another hash at its edge",
      "update audit.leaves set hashes = decode(repeat('00', length(hashes)), 'hex')",
    ],
    ["another last leaf", "update audit.leaves set map = sha256('x') where number = 3"],
    ["no last leaves", "delete from audit.leaves where number > 1"],
    [
      "a root that another key signed",
      "update audit.sealer set note = overlay(note placing 'AA' from length(note) - 20)",
    ],
    ["no signed root", "update audit.sealer set note = null"],
    ["the root of its map gone", "delete from audit.head_map where path = ''"],
    ["an added leaf", ADDED_LEAF],
    ["an added leaf and no signed root", `${ADDED_LEAF}; update audit.sealer set note = null`],
    ["an earlier tree that nobody declared", "insert into audit.trees values (-1, 'earlier', now())"],
  ])("gets nothing more if its tree has %s, from a newly started process too", async (_, change) => {
    const log = await ownLog();
    for (let n = 0; n < 3; n++) await log.sealed(1);
    await log.tamper(change);
    await log.restart();
    await log.write(1);
    expect(await rejection(log.seal())).toMatchObject({ name: "TreeAltered" });
    expect(await log.sql`select from audit.entries`).toHaveLength(3);
  });

  // AU-70
  test("is signed with all keys of the file while one replaces another", async () => {
    const log = await ownLog();
    const [old, next] = [log.keyFile, writeSigningKey()];
    const texts = await Promise.all([old, next].map((path) => Bun.file(path).text()));
    for (const [keyFile, keys] of [
      [old, [old]],
      [writeKeyFile(texts.join("")), [old, next]],
      [next, [next]],
    ] as const) {
      await log.restart({ keyFile });
      await log.sealed(2);
      const { text, end } = await log.proof();
      expect(end.keys).toEqual(keys.map((path) => verifierKeyOf(path)));
      for (const key of keys)
        expect(await verify(text, verifierKeyOf(key))).toMatchObject({ result: "complete" });
    }
  });
});

const TABLES = ["leaves", "head_map", "chains", "entries", "sealer"];

/** Copies the tables of the proof under a name, or puts a copy back. */
async function copied(database: Database, name: string): Promise<void> {
  for (const table of TABLES)
    await tamperWith(database, `create table audit.${name}_${table} as select * from audit.${table}`);
}
async function putBack(database: Database, name: string): Promise<void> {
  for (const table of TABLES) {
    await tamperWith(
      database,
      `delete from audit.${table}; insert into audit.${table} select * from audit.${name}_${table}`,
    );
  }
}

// AU-64, AU-70
test("an export is 503 while only a key that the service does not have signed the root", async () => {
  const log = await ownLog();
  await log.sealed(2);
  const { keyFile } = log;
  await log.restart({ keyFile: writeSigningKey() });
  await expect(log.proof()).rejects.toThrow("not sealed yet");
  await log.restart({ keyFile });
  expect(summaryOf(await log.verdict())).toBe("complete");
});

describe("a database that was set back", () => {
  /** Returns a log that was set back, and a root that was kept before. */
  async function setBack() {
    const log = await ownLog();
    await log.sealed(3);
    await copied(log.database, "back");
    const lost: string[] = [];
    for (let n = 0; n < 3; n++) lost.push(...(await log.sealed(1)));
    const kept = await asKept((await rootOf(log)).note);
    await putBack(log.database, "back");
    await log.tamper(`delete from audit.audit_events where id in ('${lost.join("','")}')`);
    await log.restart();
    return { log, kept };
  }

  // AU-66, AU-199
  test("leaves a newer kept root open until the tree has grown, and then refutes it", async () => {
    const { log, kept } = await setBack();
    const roots = [kept];
    expect(summaryOf(await log.verdict("organization-1", { roots }))).toBe("undecided kept_root_newer");
    for (let n = 0; n < 4; n++) await log.sealed(1);
    const forked = await log.verdict("organization-1", { roots }, kept.head.size);
    expect(summaryOf(forked)).toBe("altered trees_differ");
  });

  // AU-80
  test.skipIf(!services().postgres.real)(
    "is reported by a replica that runs on, which seals nothing until the rows are back",
    async () => {
      await using audit = await startProvenAudit();
      await using log = await openLog(audit);
      await writeEvents(audit, 2);
      await exportProof(audit);
      await copied(log, "back");
      await writeEvents(audit, 2);
      await exportProof(audit);
      await copied(log, "now");
      await putBack(log, "back");
      await audit.put(requestId(), intent({ organization_id: "later" }));
      await waitFor(async () => (await metricOf(audit, "audit_database_set_back")) === 1);
      await putBack(log, "now");
      await waitFor(async () => (await metricOf(audit, "audit_database_set_back")) === 0);
      expect(await verify((await exportProof(audit, logOf("later"))).text)).toMatchObject({
        result: "complete",
        events: 1,
      });
    },
  );

  // AU-204
  test("goes on under a new name after restart --origin, and every later root and verdict says so", async () => {
    const { log, kept } = await setBack();
    const NAME = "audit.example.com/second";
    const deps = await passDeps(log.database, log.keyFile, NAME);
    await log.tamper(
      "alter table audit.sealer add constraint interrupted check (coalesce(note, '') not like 'audit%') not valid",
    );
    await rejection(restartTree(deps));
    expect(await log.sql`select origin from audit.trees`).toHaveLength(1);
    await log.tamper("alter table audit.sealer drop constraint interrupted");
    await restartTree(deps);
    await expect(restartTree(deps)).rejects.toThrow("already has a tree with the name");
    if (services().postgres.real) {
      const old = { databaseUrl: log.url, env: { AUDIT_SIGNING_KEY_FILE: log.keyFile } };
      expect(String(await rejection(startProvenAudit(old)))).toContain(
        `AUDIT_LOG_ORIGIN is ostiary/audit-log, and the tree of the log has the name ${NAME}`,
      );
    }
    await expect(log.proof()).rejects.toThrow("not sealed yet");
    await log.restart({ origin: NAME });
    await log.sealed(2);
    const { text, end } = await log.proof();
    expect(end.note).toContain(" ostiary/audit-log\n");
    const verdict = await verify(text, log.key);
    expect(verdict).toMatchObject({ result: "complete", events: 5, root: { origin: NAME } });
    expect(verdict.earlier_trees).toMatchObject([{ origin: "ostiary/audit-log" }]);
    expect(found(await verify(text, null, { roots: [kept] }))).toMatchObject([{ code: "root_of_other_log" }]);
  });
});

// AU-152
test("without a key an export is undecided, nothing is published, and the start says so", async () => {
  const logFile = writeKeyFile("");
  await using audit = await startAudit({ env: { SEAL_INTERVAL_MS: "100", LOG_FILE: logFile } });
  await writeEvents(audit, 2);
  const { text, end } = await exportProof(audit);
  expect([end.note, end.path, end.keys]).toEqual([null, [], []]);
  expect(summaryOf(await verify(text))).toBe("undecided no_signed_root");
  for (const path of ["/checkpoint", "/tile/0/000.p/1", "/tile/entries/000.p/1"]) {
    expect((await audit.get(`/audit-log${path}`)).status).toBe(404);
  }
  await waitFor(async () => (await Bun.file(logFile).text()).includes("the audit log is not signed"));
});

async function startReplicas(count: number): Promise<AuditService[]> {
  const databaseUrl = await freshDatabase();
  const env = { AUDIT_SIGNING_KEY_FILE: writeSigningKey(), SEAL_INTERVAL_MS: "50" };
  const started = Array.from({ length: count }, () => startProvenAudit({ databaseUrl, env }));
  const replicas = await Promise.all(started);
  atTestEnd(async () => {
    await Promise.all(replicas.map((service) => service.stop()));
  });
  return replicas;
}

function raise(): never {
  throw new Error("The list is empty.");
}
