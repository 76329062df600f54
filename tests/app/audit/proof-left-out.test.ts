import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { restartChain } from "@ostiary/audit/proof/restart/restart-chain";
import { services, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import { intent, logOf, requestId, sqlOn } from "./audit-service.ts";
import { exportProof, found, sharedProvenLog, verify, writeEvents } from "./proof-bed.ts";
import { passDeps } from "./retention-bed.ts";

setDefaultTimeout(60_000);

// AU-67
describe.skipIf(!services().postgres.real)("a log whose rows are not what was sealed", () => {
  const proven = sharedProvenLog();
  const { audit, tamper, key, keyFile } = proven;

  const reasonOf = async (owner: string) => {
    const [row] = await sqlOn(proven.log)<{ reason: string }>`
      select reason from audit.altered_chains where owner = ${`organization:${owner}`}`;
    return row?.reason;
  };
  const isLeftOut = (owner: string) =>
    waitFor(() => reasonOf(owner), { what: "the record of the chain that is left out" });
  const isTakenBack = (owner: string) =>
    waitFor(async () => (await reasonOf(owner)) === undefined, { what: "the recovery", timeoutMs: 30_000 });

  /** Waits for an export, because a pass may take longer than an export waits. */
  const exported = (owner: string) =>
    waitFor(() => exportProof(audit, logOf(owner)).catch(() => null), { timeoutMs: 30_000 });

  const statements = (owner: string, text: string) =>
    text.replaceAll("$OWNER", `'organization:${owner}'`).replaceAll("$O", `'${owner}'`);

  /** Writes a log of five entries, and alters it. `$OWNER` and `$O` in the statements name it. */
  async function alteredLog(owner: string, alteration: string) {
    await writeEvents(audit, 3, { organization_id: owner });
    const before = await exportProof(audit, logOf(owner));
    await tamper(statements(owner, alteration));
    await audit.put(requestId(), intent({ organization_id: owner }));
    return before;
  }

  async function expectOthersGoOn(owner: string) {
    const other = `beside-${owner}`;
    await writeEvents(audit, 2, { organization_id: other });
    expect(await verify((await exported(other)).text, key)).toMatchObject({
      result: "complete",
      events: 2,
    });
  }

  const ID = "(select id from audit.chains where owner = $OWNER)";
  const KEEP = `create table audit.kept_$K as select * from audit.chains where owner = $OWNER`;

  test.each([
    ["row-moved", "update audit.chains set position = 4 where owner = $OWNER", "entries after its end"],
    [
      "row-changed",
      "update audit.chains set chain = sha256('x') where owner = $OWNER",
      "differs from the sealed one",
    ],
    [
      "row-gone",
      "delete from audit.chains where owner = $OWNER",
      "the chain ends at position 0, and position 5",
    ],
  ])(
    "is left out, recorded and reported, and goes on by itself once restored: %s",
    async (name, change, reason) => {
      const table = name.replace("-", "_");
      const before = await alteredLog(name, `${KEEP.replace("$K", table)};${change}`);
      expect(await isLeftOut(name)).toContain(reason);
      await waitFor(async () => (await metricOf(audit, "audit_altered_logs")) > 0);
      await expectOthersGoOn(name);
      const answer = await audit.get(`${logOf(name)}?proof=true`, { Accept: "application/x-ndjson" });
      expect(answer.status).toBe(503);
      await tamper(
        statements(
          name,
          `delete from audit.chains where owner = $OWNER;
        insert into audit.chains select * from audit.kept_${table}`,
        ),
      );
      await isTakenBack(name);
      const after = await exportProof(audit, logOf(name));
      expect(after.end.head.position).toBe(before.end.head.position + 1);
      expect(await verify(after.text, key)).toMatchObject({ result: "complete", events: 4 });
    },
  );

  test("seals all events that waited, in the order of their writes, before it is taken back", async () => {
    const owner = "long-wait";
    await alteredLog(
      owner,
      `${KEEP.replace("$K", "long_wait")};update audit.chains set position = 4 where owner = $OWNER`,
    );
    await isLeftOut(owner);
    const waiting = 10_001; // three passes
    await tamper(
      statements(
        owner,
        `with made as (
          insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service,
            method, route, params, ip)
          select '01' || lpad(n::text, 24, '0'), 'long-wait-' || n, now(), $O, 'jwt', 's', 'GET', '/', '{}', '::'
          from generate_series(1, ${waiting}) n returning id, request_id, occurred_at)
        insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made;
        delete from audit.chains where owner = $OWNER;
        insert into audit.chains select * from audit.kept_long_wait`,
      ),
    );
    await isTakenBack(owner);
    const [row] = await sqlOn(proven.log)<{ entries: number }>`
      select count(*)::int as entries from audit.entries where event_id like '01000%'`;
    expect(row?.entries).toBe(waiting);
    expect((await exported(owner)).events).toHaveLength(waiting + 4);
  });

  test("is taken back although more chains than one pass looks at stay altered", async () => {
    const owner = "behind-many";
    const many = "select 'organization:many-' || n as owner, n from generate_series(1, 101) n";
    await writeEvents(audit, 2, { organization_id: owner });
    await tamper(
      statements(
        owner,
        `insert into audit.chains (id, owner, position, chain, leaf)
          select 1000000 + n, owner, 1, sha256('x'), 1 from (${many}) given;
        insert into audit.altered_chains (owner, reason, found_at)
          select owner, 'a test', now() - interval '1 hour' from (${many}) given;
        insert into audit.altered_chains (owner, reason) values ($OWNER, 'a test')`,
      ),
    );
    try {
      await isTakenBack(owner);
    } finally {
      await tamper(
        "delete from audit.chains where id > 1000000; delete from audit.altered_chains where owner like '%many-%'",
      );
    }
  });

  test("is left out while its chain has entries after its end", async () => {
    const owner = "goes-on";
    await alteredLog(
      owner,
      `insert into audit.entries (chain_id, position, occurred_at, event_id, is_outcome, chain)
        values (${ID}, 6, now(), 'x-goes-on', false, sha256('x'))`,
    );
    expect(await isLeftOut(owner)).toContain("entries after its end");
    await expectOthersGoOn(owner);
    await tamper("delete from audit.entries where event_id = 'x-goes-on'");
    await isTakenBack(owner);
    expect(await verify((await exportProof(audit, logOf(owner))).text, key)).toMatchObject({
      result: "complete",
    });
  });

  // AU-67
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
    await writeUnsealed(owner, change);
    expect(await isLeftOut(owner)).toContain(reason);
    await expectOthersGoOn(owner);
  });

  /** Writes an event, and changes it in the same transaction, before any pass can see it. */
  async function writeUnsealed(owner: string, change: string) {
    const id = `${owner.slice(0, 20).toUpperCase()}${"0".repeat(26)}`.replace(/[^0-9A-Z]/g, "0").slice(0, 26);
    await tamper("create table if not exists audit.catch_all partition of audit.audit_events default");
    await tamper(`insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service,
        method, route, params, ip) values ('${id}', '${id}', now(), '${owner}', 'jwt', 's', 'GET', '/', '{}', '::');
      ${change.replaceAll("$ID", `'${id}'`)};
      insert into audit.request_ids (id, request_id, occurred_at)
        select id, request_id, occurred_at from audit.audit_events where id = '${id}'`);
  }

  // AU-67
  test.each([
    [
      "a foreign key",
      "create table audit.allowed as select id from audit.chains; alter table audit.allowed add primary key (id); alter table audit.entries add constraint added foreign key (chain_id) references audit.allowed not valid",
    ],
    [
      "a unique index",
      "create unique index added on audit.entries (chain_id) where chain_id = $CHAIN_ID and position > 5",
    ],
    [
      "a check",
      "alter table audit.entries add constraint added check (chain_id <> $CHAIN_ID or position < 6) not valid",
    ],
  ])("is left out while the database refuses its entries: %s", async (title, constraint) => {
    const owner = `refused-${title.replaceAll(" ", "-")}`;
    await writeEvents(audit, 3, { organization_id: owner });
    await exportProof(audit, logOf(owner));
    const [row] = await sqlOn(proven.log)<{ id: number }>`
      select id from audit.chains where owner = ${`organization:${owner}`}`;
    for (const n of [1, 2, 3]) await writeEvents(audit, 1, { organization_id: `near-${n}` });
    await exportProof(audit, logOf("near-3"));
    await tamper(constraint.replaceAll("$CHAIN_ID", String(row?.id)));
    if (title === "a foreign key") await tamper(`delete from audit.allowed where id = ${row?.id}`);
    try {
      const at = new Date().toISOString();
      await audit.postIntents({
        intents: [owner, owner, "near-1", "near-2", "near-3"].map((organization_id) => ({
          request_id: requestId(),
          ...intent({ organization_id, occurred_at: at }),
        })),
      });
      expect(await isLeftOut(owner)).toContain("its entries are refused");
      for (const n of [1, 2, 3]) {
        const near = await exported(`near-${n}`);
        expect(await verify(near.text, key)).toMatchObject({ result: "complete" });
      }
    } finally {
      await tamper(
        "alter table audit.entries drop constraint if exists added; drop index if exists audit.added; drop table if exists audit.allowed",
      );
    }
    await isTakenBack(owner);
    expect(await verify((await exportProof(audit, logOf(owner))).text, key)).toMatchObject({
      result: "complete",
      events: 5,
    });
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
      "its chain is gone",
      `delete from audit.entries where chain_id = ${ID}; delete from audit.chains where owner = $OWNER`,
      1,
    ],
  ])("goes on after restart --owner, and every later verdict says so: %s", async (title, change, from) => {
    const owner = `restarted-${title.replaceAll(" ", "-")}`;
    await alteredLog(owner, change);
    const deps = await passDeps(proven.log, keyFile);
    expect(await restartChain(deps, `organization:${owner}`)).toMatchObject({ from });
    await isTakenBack(owner);
    await writeEvents(audit, 2, { organization_id: owner });
    const after = await waitFor(
      async () => {
        const read = await exportProof(audit, logOf(owner)).catch(() => null);
        return read !== null && read.events.length >= 5 ? read : null;
      },
      { timeoutMs: 30_000 },
    );
    const verdict = await verify(after.text, key);
    expect([verdict.result, found(verdict).map(({ code }) => code)]).toEqual([
      "undecided",
      ["entries_given_up"],
    ]);
    expect(verdict.restarts).toMatchObject([{ from }]);
  });

  test("is not restarted when it was never sealed", async () => {
    const deps = await passDeps(proven.log, keyFile);
    await expect(restartChain(deps, "organization:never")).rejects.toThrow("was never sealed");
  });
});
