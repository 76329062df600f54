import { describe, expect, test } from "bun:test";
import { restartChain } from "@ostiary/audit/restart";
import { sql } from "drizzle-orm";
import { encodeTime } from "ulid";
import { logOf, sharedAudit, sharedLog, sqlOn } from "../../../app/audit/bed.ts";
import {
  exportProof,
  startProvenAudit,
  tamperWith,
  verifierKeyOf,
  verify,
  writeEvents,
  writeSigningKey,
} from "../../../app/audit/proof-bed.ts";
import { passDeps } from "../../../app/audit/retention-bed.ts";
import { services, waitFor } from "../../../support/index.ts";

// AU-67
describe.skipIf(!services().postgres.real)("while the database refuses rows, all other logs go on:", () => {
  const keyFile = writeSigningKey();
  const key = verifierKeyOf(keyFile);
  const audit = sharedAudit({ env: { AUDIT_SIGNING_KEY_FILE: keyFile } }, startProvenAudit);
  const log = sharedLog(audit);
  const tamper = (statements: string) => tamperWith(log, statements);
  const run = (statement: string) => sqlOn(log)`${sql.raw(statement)}`;

  const leftOut = async (pattern: string) => {
    const found = await sqlOn(log)<{ owner: string }>`
      select owner from audit.altered_chains where owner like ${`organization:${pattern}`} order by owner`;
    return found.map(({ owner }) => owner);
  };

  /** Writes an event of each organization in one transaction, so that one pass finds them all. */
  const writeAtOnce = (owners: string, params = "'{}'") =>
    tamper(`with made as (
        insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service,
          method, route, params, ip)
        select '${encodeTime(Date.now())}' || upper(substr(md5(owner), 1, 16)), md5(owner), now(), owner, 'jwt', 's', 'GET', '/', ${params}, '::'
        from (${owners}) given(owner) returning id, request_id, occurred_at)
      insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made`);

  /** Expects a complete export with this number of events once the sealer has them. */
  async function expectComplete(owner: string, events: number) {
    const { text } = await waitFor(() => exportProof(audit, logOf(owner)).catch(() => null), {
      what: `the export of ${owner}`,
      timeoutMs: 30_000,
    });
    expect(await verify(text, key)).toMatchObject({ result: "complete", events });
  }

  test("40 owners in one pass", async () => {
    const name = "refused";
    await run(
      "alter table audit.chains add constraint added check (owner not like 'organization:refused-%') not valid",
    );
    try {
      await writeAtOnce(
        `select '${name}-' || n from generate_series(1, 40) n union all select 'near-${name}-' || n from generate_series(1, 40) n`,
      );
      await waitFor(async () => (await leftOut(`${name}-%`)).length === 40, { timeoutMs: 30_000 });
      for (const n of [1, 20, 40]) await expectComplete(`near-${name}-${n}`, 1);
      // goes on after the owners that were left out are rechecked
      await writeEvents(audit, 1, { organization_id: `later-${name}` });
      await expectComplete(`later-${name}`, 1);
    } finally {
      await run("alter table audit.chains drop constraint if exists added");
    }
    await waitFor(async () => (await leftOut(`${name}-%`)).length === 0, { timeoutMs: 30_000 });
    for (const n of [1, 20, 40]) await expectComplete(`${name}-${n}`, 1);
  });

  test("a new log whose chain would have the id of another one", async () => {
    await writeEvents(audit, 1, { organization_id: "known" });
    await expectComplete("known", 1);
    await run("alter sequence audit.chain_ids restart with 1");
    await writeAtOnce("values ('id-taken')");
    await writeEvents(audit, 1, { organization_id: "known" });
    await expectComplete("known", 2);
    await expectComplete("id-taken", 1);
  });

  test("a foreign key that a log does not satisfy", async () => {
    await tamper(`create table audit.known as
        select owner from audit.chains union select 'organization:with-key' collate "C";
      alter table audit.known add primary key (owner);
      alter table audit.chains add constraint added foreign key (owner) references audit.known`);
    try {
      await writeAtOnce("values ('with-key'), ('without-key')");
      await expectComplete("with-key", 1);
      await waitFor(async () => (await leftOut("%-key")).join() === "organization:without-key");
    } finally {
      await tamper("alter table audit.chains drop constraint added; drop table audit.known");
    }
    await expectComplete("without-key", 1);
  });

  test("a log whose rows match again is taken back beside one that is still refused", async () => {
    await run(
      "alter table audit.chains add constraint added check (owner not like '%:still-refused') not valid",
    );
    try {
      await writeAtOnce("values ('still-refused')");
      await waitFor(async () => (await leftOut("still-refused")).length === 1, { timeoutMs: 30_000 });
      await run(
        "insert into audit.altered_chains (owner, reason) values ('organization:matches-again', 'a test')",
      );
      await writeEvents(audit, 1, { organization_id: "matches-again" });
      await expectComplete("matches-again", 1);
      expect(await leftOut("still-refused")).toHaveLength(1);
    } finally {
      await run("alter table audit.chains drop constraint if exists added");
    }
    await expectComplete("still-refused", 1);
  });

  test("rows that cannot be read", async () => {
    await run("create cast (bytea as jsonb) without function");
    // a value without the bits that say what it is: reading it is an error
    const unreadable = "case when owner like 'unreadable-%' then '\\x00000000'::bytea::jsonb else '{}' end";
    try {
      await writeAtOnce(
        `select 'unreadable-' || n from generate_series(1, 3) n union all select 'readable-' || n from generate_series(1, 20) n`,
        unreadable,
      );
      for (const n of [1, 10, 20]) await expectComplete(`readable-${n}`, 1);
      const response = await audit.get(`${logOf("unreadable-1")}?proof=true`, {
        Accept: "application/x-ndjson",
      });
      expect([response.status, await response.text().catch(String)]).not.toEqual([
        200,
        expect.stringContaining("format"),
      ]);
    } finally {
      await run("drop cast (bytea as jsonb)");
    }
  });

  // AU-203
  test("restarts of many logs at once end, each with its own declaration", async () => {
    const owners = Array.from({ length: 8 }, (_, n) => `at-once-${n % 4}`);
    for (const organization_id of new Set(owners)) await writeEvents(audit, 2, { organization_id });
    for (const owner of new Set(owners)) await expectComplete(owner, 2);
    await tamper(
      "delete from audit.audit_events where organization_id like 'at-once-%' and outcome = 'pending'",
    );
    const ends = await Promise.allSettled(
      owners.map(async (owner) => restartChain(await passDeps(log, keyFile), `organization:${owner}`)),
    );
    expect(ends.filter(({ status }) => status === "rejected")).toEqual([]);
    // the pool repeats a transaction that was the victim of a deadlock, and another process may run out of repetitions
    expect(
      await sqlOn(log)`
      select deadlocks::int from pg_stat_database where datname = current_database()`,
    ).toEqual([{ deadlocks: 0 }]);
    for (const owner of new Set(owners)) {
      const { text } = await waitFor(() => exportProof(audit, logOf(owner)).catch(() => null), {
        timeoutMs: 30_000,
      });
      expect(await verify(text, key)).toMatchObject({ result: "undecided", events: 1 });
    }
  });
});
