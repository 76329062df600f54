import { describe, expect, test } from "bun:test";
import { type Database, sqlState } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { makePartitions } from "../../../apps/audit/events/partitions-sql.ts";
import { freshDatabase, rejection, services, waitFor } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { intent, openLog, requestId, sharedAudit, sharedLog, sqlOn, startAudit, userIntent } from "./bed.ts";

/** Skips a group of tests without a PostgreSQL server: an embedded database allows one session only. */
const onServer = describe.skipIf(!services().postgres.real);
const REFUSED = "23001";

async function partitions(log: Database): Promise<string[]> {
  const found = await sqlOn(log)<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'audit.audit_events'::regclass order by 1`;
  return found.map(({ name }) => name.replace("audit_events_", ""));
}

onServer("the log, under the service's own role", () => {
  const audit = sharedAudit();
  const log = sharedLog(audit);

  const execute = (statement: string) => log.run("statement", (orm) => orm.execute(sql.raw(statement)));
  const refused = async (statement: string) => sqlState(await rejection(execute(statement)));

  /** Writes a pending event and a final one. Returns their request ids. */
  async function events() {
    const [pending, final] = [requestId(), requestId()];
    for (const id of [pending, final]) await audit.put(id, intent());
    await audit.patch(final, { outcome: "responded", status: 200 });
    return { pending, final };
  }

  // AU-50
  test("gives each intent and each outcome of a batch its own salt of 128 bits", async () => {
    const ids = Array.from({ length: 40 }, requestId);
    await audit.postIntents({ intents: ids.map((request_id) => ({ request_id, ...intent() })) });
    await audit.postOutcomes({
      outcomes: ids.map((request_id) => ({ request_id, outcome: "responded", status: 200 })),
    });
    const salts = await sqlOn(log)<{ salt: string | null }>`
      select encode(salt, 'hex') as salt from audit.audit_events,
        lateral (values (intent_salt), (outcome_salt)) as salts(salt)
        where request_id in (select json_array_elements_text(${JSON.stringify(ids)}::text::json))`;
    const texts = salts.map(({ salt }) => salt ?? "");
    expect(texts.filter((text) => /^[0-9a-f]{32}$/.test(text))).toHaveLength(80);
    expect(new Set(texts).size).toBe(80);
  });

  const month = new Date().toISOString().slice(0, 7).replace("-", "_");
  for (const table of ["audit.audit_events", `audit.audit_events_${month}`]) {
    describe(table, () => {
      // AU-6, AU-8
      test.each([
        "update TABLE set service = 'x' where request_id = 'PENDING'",
        "update TABLE set outcome = 'rejected', ip = '::' where request_id = 'PENDING'",
        "update TABLE set outcome = 'rejected', organization_id = 'x' where request_id = 'PENDING'",
        "update TABLE set outcome = 'pending' where request_id = 'FINAL'",
        "update TABLE set status = 500 where request_id = 'FINAL'",
        "delete from TABLE",
        "truncate TABLE",
        "merge into TABLE e using (select 'FINAL' as id) s on s.id = e.request_id when matched then delete",
        `insert into TABLE select * from TABLE where request_id = 'FINAL'
           on conflict (occurred_at, id) do update set service = 'x'`,
      ])("%s is refused", async (template) => {
        const { pending, final } = await events();
        const before = await audit.list("/organizations/organization-1/audit-events");
        const statement = template
          .replaceAll("TABLE", table)
          .replace("PENDING", pending)
          .replace("FINAL", final);
        expect(await refused(statement)).toBe(REFUSED);
        expect(await audit.list("/organizations/organization-1/audit-events")).toEqual(before);
      });

      // AU-6
      test("accepts the change from pending to an outcome", async () => {
        const { pending } = await events();
        await execute(
          `update ${table} set outcome = 'no_response', status = 502, details = '{}', created_id = 'c'
           where request_id = '${pending}'`,
        );
        const { audit_events } = await audit.list(
          `/organizations/organization-1/audit-events?request_id=${pending}`,
        );
        expect(audit_events[0]).toMatchObject({ outcome: "no_response", status: 502, created_id: "c" });
      });
    });
  }

  test.each(["audit.request_ids", "audit.event_params"])("%s cannot be changed either", async (table) => {
    await events();
    expect(await refused(`update ${table} set occurred_at = now()`)).toBe(REFUSED);
    expect(await refused(`delete from ${table}`)).toBe(REFUSED);
    expect(await refused(`truncate ${table}`)).toBe(REFUSED);
  });

  test("a person's event gets an organization and its member only with the outcome", async () => {
    const [first, second] = [requestId(), requestId()];
    for (const id of [first, second]) await audit.put(id, userIntent());
    const naming = (id: string, more = "") =>
      `update audit.audit_events set organization_id = 'o', actor_member_id = 'm' ${more} where request_id = '${id}'`;
    expect(await refused(naming(first))).toBe(REFUSED);
    await execute(naming(second, ", outcome = 'responded', status = 200"));
    expect(await refused(naming(second))).toBe(REFUSED);
  });

  // AU-6
  test("partitions that are created later refuse the same changes", async () => {
    await makePartitions(log, Date.UTC(2031, 5, 15));
    const later = "audit.audit_events_2031_06";
    await execute(
      `insert into ${later} (id, occurred_at, request_id, actor_auth_type, service, method, route, params, ip)
       values ('x', '2031-06-01', 'x', 'jwt', 's', 'GET', '/', '{}', '::')`,
    );
    for (const statement of [`delete from ${later}`, `truncate ${later}`, `update ${later} set ip = ''`]) {
      expect(await refused(statement)).toBe(REFUSED);
    }
  });
});

const HOUR_MS = 3_600_000;

describe("partitions", () => {
  test.skipIf(!services().postgres.real)("are created while the service runs", async () => {
    const time = manualClock("2026-01-31T23:30:00Z");
    await using audit = await startAudit({ clock: time });
    await using log = await openLog(audit);
    expect(await partitions(log)).toEqual(["2025_12", "2026_01", "2026_02", "2026_03"]);
    for (let month = 2; month <= 14; month++) {
      time.set(Date.UTC(2026, month - 1, 1));
      const ahead = new Date(Date.UTC(2026, month + 1)).toISOString().slice(0, 7).replace("-", "_");
      const made = async () => {
        time.advance(HOUR_MS);
        return (await partitions(log)).at(-1) === ahead;
      };
      await waitFor(made, { what: `partition ${ahead}` });
    }
    expect(await partitions(log)).toHaveLength(17);
  });

  // AU-7
  test("are created by a write that finds none, after years in which the service created none", async () => {
    const time = manualClock("2026-03-01T00:00:00Z");
    await using audit = await startAudit({ clock: time });
    time.set("2029-12-31T23:59:59Z");
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, n) => {
        const occurred_at = new Date(time.now() + (n % 3) * HOUR_MS).toISOString();
        return audit.put(requestId(), intent({ occurred_at }));
      }),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(201));
  });

  test.skipIf(!services().postgres.real)("are created once by replicas that start together", async () => {
    const databaseUrl = await freshDatabase();
    const replicas = await Promise.all(Array.from({ length: 4 }, () => startAudit({ databaseUrl })));
    const [first] = replicas;
    if (first === undefined) throw new Error("No replica was started.");
    const log = await openLog(first);
    expect(await partitions(log)).toHaveLength(4);
    await log.close();
    await Promise.all(replicas.map((replica) => replica.stop()));
  });

  test.skipIf(!services().postgres.real)(
    "are created without waiting for open transactions that write",
    async () => {
      await using audit = await startAudit();
      await using log = await openLog(audit);
      await log.transaction("write", async (tx) => {
        await tx.execute(
          sql`insert into audit.audit_events
            (id, occurred_at, request_id, actor_auth_type, service, method, route, params, ip)
            values ('x', now(), 'x', 'jwt', 's', 'GET', '/', '{}', '::')`,
        );
        await using other = await openLog(audit);
        expect(await makePartitions(other, Date.UTC(2040, 0))).toHaveLength(4);
      });
    },
  );
});
