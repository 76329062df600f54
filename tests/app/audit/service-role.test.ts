import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import postgres from "postgres";
import { rejection, services } from "../../support/index.ts";
import { type AuditService, intent, requestId, startAudit } from "./bed.ts";
import { newOwnedLog } from "./service-role-bed.ts";

const onServer = describe.skipIf(!services().postgres.binary);
const DENIED = "42501";
const REFUSED = "23001";

type Log = Awaited<ReturnType<typeof newOwnedLog>>;

onServer("a role that was made by migrate --role", () => {
  let log: Log;
  let audit: AuditService;
  let sql: postgres.Sql;
  const [pending, final] = [requestId(), requestId()];
  const month = new Date().toISOString().slice(0, 7).replace("-", "_");

  beforeAll(async () => {
    log = await newOwnedLog();
    audit = await startAudit({ databaseUrl: log.roleUrl });
    sql = postgres(log.roleUrl, { max: 1, onnotice: () => {} });
    for (const id of [pending, final]) await audit.put(id, intent());
    await audit.patch(final, { outcome: "responded", status: 200 });
  });
  afterAll(async () => {
    await sql.end();
    await audit.stop();
    await log.remove();
  });

  async function state(statement: string): Promise<string> {
    const error = await rejection(
      sql.begin((tx) => tx.unsafe(statement.replaceAll("PENDING", pending).replaceAll("FINAL", final))),
    );
    return String(error instanceof postgres.PostgresError ? error.code : error);
  }

  const everything = () =>
    log.admin.unsafe(`select
      (select json_agg(e order by id) from audit.audit_events e) as events,
      (select json_agg(r order by id) from audit.request_ids r) as ids`);

  const partition = `audit.audit_events_${month}`;
  // AU-6
  test.each([
    ["update audit.audit_events set service = 'x' where request_id = 'PENDING'", DENIED],
    ["update audit.audit_events set status = 500 where request_id = 'FINAL'", REFUSED],
    ["delete from audit.audit_events", DENIED],
    ["truncate audit.entries, audit.leaves", DENIED],
    // An insert that would overwrite an existing row.
    [
      `insert into audit.audit_events (id, occurred_at, request_id, actor_auth_type, service, method, route, params, ip)
       select id, occurred_at, request_id, 'jwt', 's', 'GET', '/', '{}', '::' from audit.audit_events
       on conflict (occurred_at, id) do update set status = 500`,
      REFUSED,
    ],
    // An event that is inserted with its outcome.
    [
      `insert into audit.audit_events (id, occurred_at, request_id, actor_auth_type, service, method, route, params, ip, outcome)
       values ('x', now(), 'x', 'jwt', 's', 'GET', '/', '{}', '::', 'responded')`,
      DENIED,
    ],
    // Partitions, which PostgreSQL lets a statement name as tables.
    [`update ${partition} set status = 500`, DENIED],
    [`alter table audit.audit_events detach partition ${partition}`, DENIED],
    ["alter table audit.audit_events disable trigger only_outcome", DENIED],
    ["alter function audit.make_partition(text) set search_path = public", DENIED],
    ["set session_replication_role = replica", DENIED],
  ])("may not run %s: SQLSTATE %s", async (statement, expected) => {
    const before = await everything();
    expect(await state(statement)).toBe(expected);
    expect(await everything()).toEqual(before);
  });

  test("its own operators, first in its search path, do not change what a trigger allows", async () => {
    // Databases from before PostgreSQL 15 let every role create objects in the schema `public`.
    await log.admin.unsafe(`grant create on schema public to ${log.role}`);
    const lie = postgres(log.roleUrl, { max: 1, onnotice: () => {} });
    await lie.unsafe(
      "create function public.same(record, record) returns boolean language plpgsql as 'begin return true; end'",
    );
    await lie.unsafe(
      "create operator public.*= (leftarg = record, rightarg = record, function = public.same)",
    );
    await lie.unsafe("set search_path = public, pg_catalog");
    const statement = `update audit.audit_events set outcome = 'rejected', organization_id = 'another' where request_id operator(pg_catalog.=) '${pending}'`;
    const error = await rejection(lie.unsafe(statement));
    expect(String(error)).toContain("is refused");
    await lie.end();
  });

  test.each(["2026-13", "2026-01'; drop table audit.entries; --"])(
    "no partition is made for the month %p",
    async (wanted) => {
      const error = await rejection(sql`select audit.make_partition(${wanted})`);
      expect(error instanceof postgres.PostgresError && error.code).toBe("22023");
    },
  );

  test("its own search path does not redirect the owner's function", async () => {
    await sql.unsafe("create temporary table audit_events (id int)");
    await sql.unsafe("set search_path = pg_temp, public");
    const [row] = await sql`select audit.make_partition('2041-01') as made`;
    await sql.unsafe("reset search_path");
    expect(row?.made).toBe(true);
    const [made] = await log.admin.unsafe(
      "select pg_get_userbyid(relowner) as owner from pg_class where oid = 'audit.audit_events_2041_01'::regclass",
    );
    expect(made?.owner).toBe(log.owner);
  });
});
