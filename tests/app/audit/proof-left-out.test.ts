import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { lookAgain, sealPass } from "@ostiary/audit/proof/seal/seal-pass";
import { restartChain } from "@ostiary/audit/restart";
import { type Clock, unstalledClock } from "@ostiary/lib/async";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { encodeTime } from "ulid";
import { services, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import { intent, logOf, newLog, openLog, requestId } from "./audit-service.ts";
import { OwnLog } from "./own-log.ts";
import { exportProof, found, startProvenAudit, tamperWith, verify, writeEvents } from "./proof-bed.ts";
import { drop, makeMonth, writePastOutcome } from "./retention-bed.ts";

let log: OwnLog;
beforeAll(async () => {
  log = await OwnLog.open();
});
afterAll(() => log[Symbol.asyncDispose]());

const reasonOf = async (owner: string) => {
  const [row] = await log.sql<{ reason: string }>`
    select reason from audit.altered_chains where owner = ${`organization:${owner}`}`;
  return row?.reason;
};
const isComplete = async (owner: string, events: number) =>
  expect(await verify((await log.proof(owner)).text, log.key)).toMatchObject({ result: "complete", events });

/** Seals what is new, and does not look at logs that were left out. */
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

const statements = (owner: string, text: string) =>
  text.replaceAll("$OWNER", `'organization:${owner}'`).replaceAll("$O", `'${owner}'`);

/** Writes a log of five entries, alters it, and writes one more event. `$OWNER` and `$O` in the statements name it. */
async function alteredLog(owner: string, alteration: string): Promise<void> {
  await log.sealed(3, owner);
  await log.tamper(statements(owner, alteration));
  await log.write(1, owner);
}

/** More events than one pass looks at. */
const WAITING = 5_001;

const ID = "(select id from audit.chains where owner = $OWNER)";

// AU-67
describe("a log whose rows are not what was sealed", () => {
  test.each([
    ["row-moved", "update audit.chains set position = 4 where owner = $OWNER", "entries after its end"],
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
    await log.tamper(
      statements(
        owner,
        `delete from audit.chains where owner = $OWNER;
        insert into audit.chains select * from audit.kept; drop table audit.kept;
        delete from audit.declarations where chain_id = ${ID}`,
      ),
    );
    await log.seal();
    expect(await reasonOf(owner)).toBeUndefined();
    expect((await log.proof(owner)).end.head.position).toBe(6);
    await isComplete(owner, 4);
  });

  test("is looked at without a read of its events while it differs, so that other logs do not wait for a long log", async () => {
    await alteredLog("long-log", "update audit.chains set position = 4 where owner = $OWNER");
    await log.seal();
    const { state } = await sealPass(log.deps);
    expect(state.altered).toContain("organization:long-log");
    await using other = await newLog(log.url);
    await other.transaction("lock", async (tx) => {
      await rows(tx, sql`lock table audit.audit_events in access exclusive mode`);
      await Array.fromAsync(lookAgain(log.deps, { altered: ["organization:long-log"] }));
    });
    await log.tamper(statements("long-log", "update audit.chains set position = 5 where owner = $OWNER"));
    await log.seal();
    await isComplete("long-log", 4);
  });

  /** Writes a log that waits with more events than one pass looks at, and whose rows match again. */
  async function waitingLog(owner: string) {
    await alteredLog(owner, "update audit.chains set position = 4 where owner = $OWNER");
    await log.seal();
    await log.tamper(
      statements(
        owner,
        `with made as (
          insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service,
            method, route, params, ip)
          select '${encodeTime(Date.now())}' || lpad(n::text, 16, '0'), $O || n, now(), $O, 'jwt', 's', 'GET', '/', '{}', '::'
          from generate_series(1, ${WAITING}) n returning id, request_id, occurred_at)
        insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made;
        update audit.chains set position = 5 where owner = $OWNER`,
      ),
    );
    await sealNew();
    expect(await reasonOf(owner)).toBeDefined();
    return lookAgain(log.deps, { altered: [`organization:${owner}`] });
  }

  test("is taken back in steps, between which other logs go on, with what is written to it meanwhile", async () => {
    const owner = "long-wait";
    const looks = await waitingLog(owner);
    await looks.next();
    expect(await reasonOf(owner)).toBeDefined();
    const [early] = await log.sql<{ id: string }>`
      select min(id) as id from audit.audit_events where organization_id = ${owner} and outcome = 'pending'`;
    await writePastOutcome(log.database, early?.id ?? "");
    await log.write(2, owner);
    await log.write(2, "beside-long-wait");
    await sealNew();
    await isComplete("beside-long-wait", 2);
    await Array.fromAsync(looks);
    expect(await reasonOf(owner)).toBeUndefined();
    await isComplete(owner, WAITING + 6);
  });

  test("stays left out when a page before the last has an event that cannot be sealed", async () => {
    const owner = "unsealable-wait";
    const looks = await waitingLog(owner);
    const event = `(select min(e.id) from audit.audit_events e where e.organization_id = 'unsealable-wait'
      and not exists (select from audit.entries n where n.event_id = e.id))`;
    await log.tamper(
      statements(
        owner,
        `alter table audit.audit_events alter column intent_salt drop not null; update audit.audit_events set intent_salt = null where id = ${event}`,
      ),
    );
    await Array.fromAsync(looks);
    expect(await reasonOf(owner)).toMatch(/^the event \w{26} cannot be sealed: .*has no salt/);
  });

  test("is looked at from the start when a restart gives up entries that the look has read", async () => {
    const owner = "restarted-wait";
    const looks = await waitingLog(owner);
    await looks.next();
    const event = `(select event_id from audit.entries where chain_id = ${ID} and position = 5001)`;
    await log.tamper(statements(owner, `update audit.audit_events set ip = '::9' where id = ${event}`));
    const restarted = await restartChain(log.deps, `organization:${owner}`);
    expect(restarted).toEqual({ from: 5_001, to: 5_002 });
    await Array.fromAsync(looks);
    expect(await reasonOf(owner)).toBeUndefined();
    await sealNew();
    expect((await log.proof(owner)).events).toHaveLength(WAITING + 4);
  });

  test("is looked at from the start when the database was restored on a server with lower transaction numbers", async () => {
    const owner = "restored-wait";
    const looks = await waitingLog(owner);
    await log.tamper("update audit.sealer set sealed_to = '4000000000:4000000000:'");
    await looks.next();
    const [early] = await log.sql<{ id: string }>`
      select min(id) as id from audit.audit_events where organization_id = ${owner} and outcome = 'pending'`;
    await writePastOutcome(log.database, early?.id ?? "");
    await sealNew();
    await Array.fromAsync(looks);
    expect(await reasonOf(owner)).toBeUndefined();
    await isComplete(owner, WAITING + 4);
  });

  test("gets its turn although many more chains than one look has room for stay altered", async () => {
    const owner = "behind-many";
    const many = "select 'organization:many-' || n as owner, n from generate_series(1, 201) n";
    await log.sealed(2, owner);
    await log.tamper(
      statements(
        owner,
        `insert into audit.chains (id, owner, position, chain, leaf)
          select 1000000 + n, owner, 1, sha256('x'), 1 from (${many}) given;
        insert into audit.altered_chains (owner, reason, found_at)
          select owner, 'a test', now() - interval '1 hour' from (${many}) given;
        insert into audit.altered_chains (owner, reason) values ($OWNER, 'a test')`,
      ),
    );
    const altered = Array.from({ length: 201 }, (_, n) => `organization:many-${n + 1}`);
    for (let look = 0; look < 3; look++) {
      await Array.fromAsync(lookAgain(log.deps, { altered: [...altered, `organization:${owner}`] }));
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
      "alter table audit.audit_events alter column intent_salt drop not null; update audit.audit_events set intent_salt = null where id = $ID",
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
    [
      "an event was changed",
      "update audit.audit_events set ip = '::9' where organization_id = $O and outcome <> 'pending'",
      1,
    ],
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
      update audit.audit_events set ip = '::9' where organization_id = $O and outcome <> 'pending'`,
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
    expect(await restartChain(log.deps, `organization:${owner}`)).toMatchObject({ from });
    await log.sealed(2, owner);
    expect(await reasonOf(owner)).toBeUndefined();
    const verdict = await verify((await log.proof(owner)).text, log.key);
    expect([verdict.result, found(verdict).map(({ code }) => code)]).toEqual([
      "undecided",
      ["entries_given_up"],
    ]);
    expect(verdict.restarts).toMatchObject([{ from }]);
  });

  // AU-203
  test("is restarted a second time without giving up what was sealed since the first time", async () => {
    const owner = "restarted-twice";
    await alteredLog(
      owner,
      "update audit.audit_events set ip = '::9' where organization_id = $O and outcome <> 'pending'",
    );
    await log.seal();
    expect(await restartChain(log.deps, `organization:${owner}`)).toEqual({ from: 1, to: 6 });
    await log.sealed(2, owner);
    const { end } = await log.proof(owner);
    const { position } = end.head;
    expect(await restartChain(log.deps, `organization:${owner}`)).toEqual({
      from: position + 1,
      to: position,
    });
    await log.tamper(
      statements(owner, `delete from audit.entries where chain_id = ${ID} and position = ${position}`),
    );
    expect(await restartChain(log.deps, `organization:${owner}`)).toEqual({
      from: position,
      to: position + 1,
    });
    await log.sealed(1, owner);
    const verdict = await verify((await log.proof(owner)).text, log.key);
    expect([verdict.result, verdict.restarts.length]).toEqual(["undecided", 2]);
  });

  // AU-203
  test("gives up dropped months with the declaration that a restart gives up", async () => {
    const owner = "restarted-dropped";
    await using own = await OwnLog.open();
    await makeMonth(own.database, "2026-01");
    await own.sealed(2, owner, "2026-01-10T00:00:00.000Z");
    await own.sealed(2, owner);
    await own.tamper(
      statements(
        owner,
        "update audit.audit_events set ip = '::9' where organization_id = $O and outcome <> 'pending' and occurred_at > '2026-02-01'",
      ),
    );
    await drop(own.database, own.keyFile, "2026-02");
    expect(await restartChain(own.deps, `organization:${owner}`)).toEqual({ from: 1, to: 7 });
    await own.sealed(1, owner);
    const verdict = await verify((await own.proof(owner)).text, own.key);
    expect([verdict.result, found(verdict).map(({ code }) => code)]).toEqual([
      "undecided",
      ["entries_given_up"],
    ]);
  });

  test("is not restarted when it was never sealed", async () => {
    await expect(restartChain(log.deps, "organization:never")).rejects.toThrow("was never sealed");
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
    const made = `select n, case when n % 2 = 0 then 'flood' else 'flood-' || n end as owner
      from generate_series(1, 2600) n`;
    await log.tamper(`create cast (bytea as jsonb) without function;
      with made as (
        insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service,
          method, route, params, ip)
        select '${encodeTime(Date.now())}' || lpad(n::text, 16, '0'), owner || n, now(), owner, 'jwt', 's', 'GET', '/',
          '\\x00000000'::bytea::jsonb, '::'
        from (${made}) given returning id, request_id, occurred_at)
      insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made;
      drop cast (bytea as jsonb)`);
    await log.write(2, "beside-flood");
    await sealNew();
    await isComplete("beside-flood", 2);
    expect(await reasonOf("flood")).toContain("cannot be read");
    const [left] = await log.sql<{ count: number }>`
      select count(*)::int from audit.altered_chains where owner like 'organization:flood-%'`;
    expect(left?.count).toBe(1_300);
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
    const reads = new Proxy(log.database, {
      get: (database, name) => (name === "run" ? run : Reflect.get(database, name).bind(database)),
    });
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

  test("does not stop a look at another log that reads what was sealed meanwhile", async () => {
    const [owner, other] = ["looked-at", "unreadable-meanwhile"];
    await alteredLog(owner, "update audit.chains set position = 4 where owner = $OWNER");
    await log.seal();
    await log.tamper(statements(owner, "update audit.chains set position = 5 where owner = $OWNER"));
    const [before] = await log.sql<{ sealed_to: string }>`select sealed_to::text from audit.sealer`;
    await log.write(1, other);
    await damage(other);
    await log.write(1, "beside-looked-at");
    await sealNew();
    expect(await reasonOf(other)).toContain("cannot be read");
    const look = {
      owner: `organization:${owner}`,
      position: 5,
      after: null,
      sealed_to: before?.sealed_to ?? "",
    };
    expect(await sealPass(log.deps, { look })).toMatchObject({ look: null, end: "done" });
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
      const restarted = await restartChain(log.deps, `organization:${owner}`);
      expect(restarted).toEqual({ from: 6, to: 6 });
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
    await alteredLog(owner, "update audit.chains set position = 4 where owner = $OWNER");
    await log.seal();
    await damage(owner);
    await alteredLog(waiting, "update audit.chains set position = 4 where owner = $OWNER");
    await log.seal();
    await restartChain(log.deps, `organization:${owner}`);
    await log.tamper(statements(waiting, "update audit.chains set position = 5 where owner = $OWNER"));
    await Array.fromAsync(
      lookAgain(log.deps, { altered: [`organization:${owner}`, `organization:${waiting}`] }),
    );
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
    // The service looks at the logs that it leaves out every few seconds.
    await waitFor(async () => {
      passedMs += 5_000;
      return (await metricOf(audit, "audit_altered_logs")) === 0;
    });
    expect(await verify((await exportProof(audit)).text)).toMatchObject({ result: "complete", events: 3 });
  },
);
