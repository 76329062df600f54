import { describe, expect, test } from "bun:test";
import { type Clock, unstalledClock } from "@ostiary/lib/async";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { recheckAltered } from "../../../apps/audit/proof/seal/recheck.ts";
import { sealPass } from "../../../apps/audit/proof/seal/seal-pass.ts";
import { summaryOf } from "../../support/audit/verify-lines.ts";
import { duringTests } from "../../support/during-tests.ts";
import { services, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import { intent, logOf, newLog, openLog, requestId } from "./bed.ts";
import { databaseWith, OwnLog } from "./own-log.ts";
import { exportProof, startProvenAudit, tamperWith, verify, writeEvents } from "./proof-bed.ts";
import { drop, insertionOf, makeMonth, writePastOutcome } from "./retention-bed.ts";

const log = duringTests(OwnLog.open);

const reasonOf = async (owner: string) => {
  const [row] = await log.sql<{ reason: string }>`
    select reason from audit.altered_chains where owner = ${`organization:${owner}`}`;
  return row?.reason;
};
const isComplete = async (owner: string, events: number) =>
  expect(await log.verdict(owner)).toMatchObject({ result: "complete", events });

/** Seals what is new, and does not recheck logs that were left out. */
async function sealNew() {
  for (let end = ""; end !== "done"; ) ({ end } = await sealPass(log.deps));
}

/** Writes an event of another log, seals, and expects that only the log of `owner` is left out. */
async function expectLeftOut(owner: string, reason: string): Promise<void> {
  await log.write(2, `beside-${owner}`);
  await log.seal();
  expect(await reasonOf(owner)).toContain(reason);
  await isComplete(`beside-${owner}`, 2);
}

/** Runs statements that name the log of `owner` as `$OWNER` and `$O`. */
const alter = (owner: string, statements: string, own: OwnLog = log) =>
  own.tamper(statements.replaceAll("$OWNER", `'organization:${owner}'`).replaceAll("$O", `'${owner}'`));

/** Writes a log of five entries, alters it, and writes one more event. */
async function alteredLog(owner: string, alteration: string): Promise<void> {
  await log.sealed(3, owner);
  await alter(owner, alteration);
  await log.write(1, owner);
}

/** More events than one pass reads. */
const WAITING = 5_001;

const ID = "(select id from audit.chains where owner = $OWNER)";
/** Moves the row of a log of five entries, and moves it back. */
const MOVED = "update audit.chains set position = 4 where owner = $OWNER";
const MOVED_BACK = "update audit.chains set position = 5 where owner = $OWNER";
/** Changes the events of a log that have an outcome. */
const CHANGED =
  "update audit.audit_events set ip = '::9' where organization_id = $O and outcome <> 'pending'";
/** Lets a log have events without a salt. */
const SALTLESS = "alter table audit.audit_events alter column intent_salt drop not null";

// AU-67
describe("a log whose rows are not what was sealed", () => {
  test.each([
    ["row-moved", MOVED, "entries after its end"],
    [
      "row-changed",
      "update audit.chains set chain = sha256('x') where owner = $OWNER",
      "differs from the sealed one",
    ],
    [
      "declared-after",
      `insert into audit.declarations (chain_id, position, declared_at, kind, month, content, chain, salt)
        values (${ID}, 9, now(), 'retention', '2026-01', '{}', sha256('x'), '\\x00')`,
      "entries after its end",
    ],
    [
      "row-gone",
      "delete from audit.chains where owner = $OWNER",
      "the chain ends at position 0, and position 5",
    ],
  ])("is left out, and goes on once restored: %s", async (owner, change, reason) => {
    const keep = "create table audit.kept as select * from audit.chains where owner = $OWNER";
    await alteredLog(owner, `${keep};${change}`);
    await expectLeftOut(owner, reason);
    await alter(
      owner,
      `delete from audit.chains where owner = $OWNER;
      insert into audit.chains select * from audit.kept; drop table audit.kept;
      delete from audit.declarations where chain_id = ${ID}`,
    );
    await log.seal();
    expect(await reasonOf(owner)).toBeUndefined();
    expect((await log.proof(owner)).end.head.position).toBe(6);
    await isComplete(owner, 4);
  });

  test("is rechecked without reading its events while it differs, so that other logs do not wait for a long log", async () => {
    await alteredLog("long-log", MOVED);
    await log.seal();
    const { state } = await sealPass(log.deps);
    expect(state.altered).toContain("organization:long-log");
    await using other = await newLog(log.url);
    await other.transaction("lock", async (tx) => {
      await rows(tx, sql`lock table audit.audit_events in access exclusive mode`);
      await Array.fromAsync(recheckAltered(log.deps, { altered: ["organization:long-log"] }));
    });
    await alter("long-log", MOVED_BACK);
    await log.seal();
    await isComplete("long-log", 4);
  });

  /** Writes a log that waits with more events than one pass reads, and whose rows match again. */
  async function waitingLog(owner: string) {
    await alteredLog(owner, MOVED);
    await log.seal();
    await alter(owner, `${insertionOf(WAITING, "$O")}; ${MOVED_BACK}`);
    await sealNew();
    expect(await reasonOf(owner)).toBeDefined();
    return recheckAltered(log.deps, { altered: [`organization:${owner}`] });
  }

  test("is taken back in steps, between which other logs go on, with what is written to it meanwhile", async () => {
    const owner = "long-wait";
    const rechecks = await waitingLog(owner);
    await rechecks.next();
    expect(await reasonOf(owner)).toBeDefined();
    const [early] = await log.sql<{ id: string }>`
      select min(id) as id from audit.audit_events where organization_id = ${owner} and outcome = 'pending'`;
    await writePastOutcome(log.database, early?.id ?? "");
    await log.write(2, owner);
    await log.write(2, "beside-long-wait");
    await sealNew();
    await isComplete("beside-long-wait", 2);
    await Array.fromAsync(rechecks);
    expect(await reasonOf(owner)).toBeUndefined();
    await isComplete(owner, WAITING + 6);
  });

  test("stays left out when a page before the last has an event that cannot be sealed", async () => {
    const owner = "unsealable-wait";
    const rechecks = await waitingLog(owner);
    const event = `(select min(e.id) from audit.audit_events e where e.organization_id = 'unsealable-wait'
      and not exists (select from audit.entries n where n.event_id = e.id))`;
    await alter(owner, `${SALTLESS}; update audit.audit_events set intent_salt = null where id = ${event}`);
    await Array.fromAsync(rechecks);
    expect(await reasonOf(owner)).toMatch(/^the event \w{26} cannot be sealed: .*has no salt/);
  });

  test("is rechecked from the start when a restart gives up entries that the recheck has read", async () => {
    const owner = "restarted-wait";
    const rechecks = await waitingLog(owner);
    await rechecks.next();
    const event = `(select event_id from audit.entries where chain_id = ${ID} and position = 5001)`;
    await alter(owner, `update audit.audit_events set ip = '::9' where id = ${event}`);
    expect(await log.restartOwner(owner)).toEqual({ from: 5_001, to: 5_002 });
    await Array.fromAsync(rechecks);
    expect(await reasonOf(owner)).toBeUndefined();
    await sealNew();
    expect((await log.proof(owner)).events).toHaveLength(WAITING + 4);
  });

  test("is rechecked from the start when the database was restored on a server with lower transaction numbers", async () => {
    const owner = "restored-wait";
    const rechecks = await waitingLog(owner);
    await log.tamper("update audit.sealer set sealed_to = '4000000000:4000000000:'");
    await rechecks.next();
    const [early] = await log.sql<{ id: string }>`
      select min(id) as id from audit.audit_events where organization_id = ${owner} and outcome = 'pending'`;
    await writePastOutcome(log.database, early?.id ?? "");
    await sealNew();
    await Array.fromAsync(rechecks);
    expect(await reasonOf(owner)).toBeUndefined();
    await isComplete(owner, WAITING + 4);
  });

  test("gets its turn although many more chains than one recheck reads stay altered", async () => {
    const owner = "behind-many";
    const many = "select 'organization:many-' || n as owner, n from generate_series(1, 201) n";
    await log.sealed(2, owner);
    await alter(
      owner,
      `insert into audit.chains (id, owner, position, chain, leaf)
        select 1000000 + n, owner, 1, sha256('x'), 1 from (${many}) given;
      insert into audit.altered_chains (owner, reason, found_at)
        select owner, 'a test', now() - interval '1 hour' from (${many}) given;
      insert into audit.altered_chains (owner, reason) values ($OWNER, 'a test')`,
    );
    const altered = Array.from({ length: 201 }, (_, n) => `organization:many-${n + 1}`);
    for (let recheck = 0; recheck < 3; recheck++) {
      await Array.fromAsync(recheckAltered(log.deps, { altered: [...altered, `organization:${owner}`] }));
    }
    expect(await reasonOf(owner)).toBeUndefined();
    await log.tamper(
      "delete from audit.chains where id > 1000000; delete from audit.altered_chains where owner like '%many-%'",
    );
  });

  test.each([
    [
      "a time that is no time",
      "update audit.audit_events set occurred_at = 'infinity' where id = $ID",
      "cannot be sealed",
    ],
    [
      "no salt",
      `${SALTLESS}; update audit.audit_events set intent_salt = null where id = $ID`,
      "has no salt",
    ],
  ])("is left out when an event has %s, and all other logs go on", async (title, change, reason) => {
    const owner = `bad-${title.replaceAll(" ", "-")}`;
    const id = owner.toUpperCase().replaceAll("-", "0").padEnd(26, "0").slice(0, 26);
    await log.tamper("create table if not exists audit.catch_all partition of audit.audit_events default");
    await log.tamper(`insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service,
        method, route, params, ip) values ('${id}', '${id}', now(), '${owner}', 'jwt', 's', 'GET', '/', '{}', '::');
      ${change.replaceAll("$ID", `'${id}'`)};
      insert into audit.request_ids (id, request_id, occurred_at)
        select id, request_id, occurred_at from audit.audit_events where id = '${id}'`);
    await expectLeftOut(owner, reason);
  });

  // AU-203
  test.each([
    ["an event was changed", CHANGED, 1],
    [
      "its last event is gone",
      `delete from audit.audit_events where organization_id = $O and outcome = 'pending' and id in
      (select event_id from audit.entries where chain_id = ${ID} and position = 5);
      delete from audit.entries where chain_id = ${ID} and position = 5;
      update audit.chains set position = 4, chain = (select chain from audit.entries
        where chain_id = chains.id and position = 4) where owner = $OWNER`,
      5,
    ],
    [
      "a dropped month was declared after its end without the key, and an event was changed",
      `insert into audit.declarations (chain_id, position, declared_at, kind, month, content, chain, salt)
        select ${ID}, n, now(), 'retention', '2026-01', '{"month":"2026-01","declared_at":"2026-03-01T00:00:00.000Z"}',
          sha256('x'), '\\x00' from unnest(array[6, 7, 100]) n;
      ${CHANGED}`,
      1,
    ],
    [
      "its chain is gone",
      `delete from audit.entries where chain_id = ${ID}; delete from audit.chains where owner = $OWNER`,
      1,
    ],
  ])("goes on after restart --owner, and every later verdict says so: %s", async (title, change, from) => {
    const owner = `restarted-${title.replaceAll(" ", "-")}`;
    await alteredLog(owner, change);
    await log.seal();
    expect(await log.restartOwner(owner)).toMatchObject({ from });
    await log.sealed(2, owner);
    expect(await reasonOf(owner)).toBeUndefined();
    const verdict = await log.verdict(owner);
    expect(summaryOf(verdict)).toBe("undecided entries_given_up");
    expect(verdict.restarts).toMatchObject([{ from }]);
  });

  // AU-203
  test("is restarted a second time without giving up what was sealed since the first time", async () => {
    const owner = "restarted-twice";
    await alteredLog(owner, CHANGED);
    await log.seal();
    expect(await log.restartOwner(owner)).toEqual({ from: 1, to: 6 });
    await log.sealed(2, owner);
    const { position } = (await log.proof(owner)).end.head;
    expect(await log.restartOwner(owner)).toEqual({ from: position + 1, to: position });
    await alter(owner, `delete from audit.entries where chain_id = ${ID} and position = ${position}`);
    expect(await log.restartOwner(owner)).toEqual({ from: position, to: position + 1 });
    await log.sealed(1, owner);
    const verdict = await log.verdict(owner);
    expect([verdict.result, verdict.restarts.length]).toEqual(["undecided", 2]);
  });

  // AU-203
  test("gives up dropped months with the declaration that a restart gives up", async () => {
    const owner = "restarted-dropped";
    await using own = await OwnLog.open();
    await makeMonth(own.database, "2026-01");
    await own.sealed(2, owner, "2026-01-10T00:00:00.000Z");
    await own.sealed(2, owner);
    await alter(owner, `${CHANGED} and occurred_at > '2026-02-01'`, own);
    await drop(own.database, own.keyFile, "2026-02");
    expect(await own.restartOwner(owner)).toEqual({ from: 1, to: 7 });
    await own.sealed(1, owner);
    expect(summaryOf(await own.verdict(owner))).toBe("undecided entries_given_up");
  });

  test("is not restarted when it was never sealed", async () => {
    await expect(log.restartOwner("never")).rejects.toThrow("was never sealed");
  });
});

// AU-67
test("no log is left out when somebody adds nodes with the number of the next leaf to the map of heads", async () => {
  const owners = ["added-nodes", "beside-added-nodes"];
  await log.sealed(2, "added-nodes");
  await log.tamper(`insert into audit.head_map (version, path, node)
    select (select max(number) + n from audit.leaves), path, node
    from generate_series(1, 2) n, (values ('', '\\x00'::bytea), ('', (select node from audit.head_map
      where path = '' order by version desc limit 1)), ('a', '\\x00')) given(path, node)`);
  const lines: unknown[] = [];
  log.deps = { ...log.deps, log: { error: (fields) => lines.push(fields) } };
  for (const owner of owners) await log.sealed(2, owner);
  expect(lines).toEqual([{ version: expect.any(Number) }, { version: expect.any(Number) }]);
  await log.restart();
  for (const owner of owners) {
    expect(await reasonOf(owner)).toBeUndefined();
    await log.sealed(1, owner);
    await isComplete(owner, owner === "added-nodes" ? 5 : 3);
  }
});

// AU-67
describe.skipIf(!services().postgres.real)("a log with an event that cannot be read", () => {
  const change = (owner: string, params: string) =>
    log.tamper(`create cast (bytea as jsonb) without function;
      update audit.audit_events set params = ${params} where id = (
        select max(id) from audit.audit_events where organization_id = '${owner}');
      drop cast (bytea as jsonb)`);
  /** Makes the newest event of a log unreadable: its params lack the bits that say what they are. */
  const damage = (owner: string) => change(owner, "'\\x00000000'::bytea::jsonb");
  const repair = (owner: string) => change(owner, `'{"w":"w-1"}'`);
  /** Removes the newest event of a log. */
  const remove = (owner: string) =>
    log.tamper(`delete from audit.audit_events where id = (
      select max(id) from audit.audit_events where organization_id = '${owner}')`);

  test("is left out, and goes on once the event can be read", async () => {
    const owner = "unreadable-new";
    await log.sealed(2, owner);
    await log.write(1, owner);
    await damage(owner);
    await expectLeftOut(owner, "cannot be read");
    await log.restart();
    await log.sealed(1, `beside-${owner}`);
    expect(await reasonOf(owner)).toBeDefined();
    await isComplete(`beside-${owner}`, 3);
    await repair(owner);
    await log.sealed(1, owner);
    expect(await reasonOf(owner)).toBeUndefined();
    await isComplete(owner, 4);
  });

  test("is left out, however many such events there are, and others go on in the same pass", async () => {
    await log.seal();
    const owners = "case when n % 2 = 0 then 'flood' else 'flood-' || n end";
    await log.tamper(`create cast (bytea as jsonb) without function;
      ${insertionOf(1_100, owners, "'\\x00000000'::bytea::jsonb")};
      drop cast (bytea as jsonb)`);
    await log.write(2, "beside-flood");
    await sealNew();
    await isComplete("beside-flood", 2);
    expect(await reasonOf("flood")).toContain("cannot be read");
    const [left] = await log.sql<{ count: number }>`
      select count(*)::int from audit.altered_chains where owner like 'organization:flood-%'`;
    expect(left?.count).toBe(550);
    await log.sealed(1, "beside-flood");
    await isComplete("beside-flood", 3);
    await log.tamper("delete from audit.altered_chains where owner like 'organization:flood%'");
  });

  test("is passed over when a damaged page does not even return its owners", async () => {
    const owner = "unreadable-owners";
    await log.seal();
    const run: Database["run"] = (operation, work, options) =>
      log.database.run(
        operation,
        async (orm) => {
          if (operation === "select_owners") await rows(orm, sql`select 1 / 0`);
          return work(orm);
        },
        options,
      );
    const reads = databaseWith(log.database, { run });
    await log.write(1, owner);
    await damage(owner);
    await log.write(2, `beside-${owner}`);
    for (let end = ""; end !== "done"; ) ({ end } = await sealPass({ ...log.deps, reads }));
    expect(log.deps.memory.unreadable.size).toBe(1);
    await isComplete(`beside-${owner}`, 2);
    await damage(`beside-${owner}`);
    await log.write(1, `beside-${owner}`);
    await damage(`beside-${owner}`);
    await sealNew();
    expect(log.deps.memory.unreadable.size).toBe(0);
  });

  test("does not stop a recheck of another log that reads what was sealed meanwhile", async () => {
    const [owner, other] = ["rechecked", "unreadable-meanwhile"];
    await alteredLog(owner, MOVED);
    await log.seal();
    await alter(owner, MOVED_BACK);
    const [before] = await log.sql<{ sealed_to: string }>`select sealed_to::text from audit.sealer`;
    await log.write(1, other);
    await damage(other);
    await log.write(1, "beside-rechecked");
    await sealNew();
    expect(await reasonOf(other)).toContain("cannot be read");
    const sealed_to = before?.sealed_to ?? "";
    const recheck = { owner: `organization:${owner}`, position: 5, after: null, sealed_to };
    expect(await sealPass(log.deps, { recheck })).toMatchObject({ recheck: null, end: "done" });
  });

  // AU-203
  test.each([
    ["repaired", repair, 4],
    ["removed", remove, 3],
  ])(
    "is restarted at the event when it was sealed before, and goes on once it is %s",
    async (end, mend, events) => {
      const owner = `unreadable-sealed-${end}`;
      await log.sealed(3, owner);
      await log.sealed(1, owner);
      await damage(owner);
      expect(await log.restartOwner(owner)).toEqual({ from: 6, to: 6 });
      await log.seal();
      expect(await reasonOf(owner)).toContain("cannot be read");
      await mend(owner);
      await log.seal();
      expect(await reasonOf(owner)).toBeUndefined();
      expect((await log.proof(owner)).events).toHaveLength(events);
    },
  );

  // AU-203
  test("stays left out when it is restarted, and logs that wait behind it are taken back", async () => {
    const [owner, waiting] = ["unreadable-restarted", "behind-unreadable"];
    await alteredLog(owner, MOVED);
    await log.seal();
    await damage(owner);
    await alteredLog(waiting, MOVED);
    await log.seal();
    await log.restartOwner(owner);
    await alter(waiting, MOVED_BACK);
    const altered = [`organization:${owner}`, `organization:${waiting}`];
    await Array.fromAsync(recheckAltered(log.deps, { altered }));
    expect(await reasonOf(owner)).toContain("cannot be read");
    expect(await reasonOf(waiting)).toBeUndefined();
    await isComplete(waiting, 4);
    await repair(owner);
    await log.seal();
    expect(await reasonOf(owner)).toBeUndefined();
    expect((await log.proof(owner)).events).toHaveLength(4);
  });
});

// AU-67
test.skipIf(!services().postgres.real)(
  "a service reports a log that it leaves out, and takes it back by itself",
  async () => {
    let passedMs = 0;
    const clock: Clock = { ...unstalledClock, elapsedMs: () => unstalledClock.elapsedMs() + passedMs };
    await using audit = await startProvenAudit({ clock });
    await using database = await openLog(audit);
    await writeEvents(audit, 2);
    await exportProof(audit);
    const move = (by: number) =>
      tamperWith(
        database,
        `update audit.chains set position = position + ${by} where owner = 'organization:organization-1'`,
      );
    await move(-1);
    await audit.put(requestId(), intent());
    await waitFor(async () => (await metricOf(audit, "audit_altered_logs")) === 1);
    const response = await audit.get(`${logOf("organization-1")}?proof=true`);
    expect(response.status).toBe(503);
    await move(1);
    // The service rechecks the logs that it leaves out every few seconds.
    await waitFor(async () => {
      passedMs += 5_000;
      return (await metricOf(audit, "audit_altered_logs")) === 0;
    });
    expect(await verify((await exportProof(audit)).text)).toMatchObject({ result: "complete", events: 3 });
  },
);
