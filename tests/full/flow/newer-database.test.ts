import { describe, expect, setDefaultTimeout, test } from "bun:test";
import postgres from "postgres";
import { atTestEnd } from "../../support/at-test-end.ts";
import {
  freshDatabase,
  freshRouteStoreUrl,
  rejection,
  services,
  startProcess,
  waitFor,
} from "../../support/index.ts";
import { ADMIN_TOKEN, INTERNAL_AUTH_TOKEN } from "../../support/processes/stack.ts";
import type { RunningProcess } from "../../support/processes/start-process.ts";

setDefaultTimeout(120_000);

const MESSAGE = "the database is newer than this version";
/** The id of an advisory lock. While the test holds the lock, a migration waits for it. */
const HELD = 7_311;

async function start(service: string, env: Record<string, string>): Promise<RunningProcess> {
  const running = await startProcess(`apps/${service}/main.ts`, env);
  atTestEnd(() => running.kill());
  return running;
}

const warnings = ({ logs }: RunningProcess) => logs().filter(({ message }) => message === MESSAGE);

describe.skipIf(!services().postgres.real)("a database that another version migrated", () => {
  // OP-75
  test.each([
    ["registry", "routes"],
    ["identity", "identity"],
    ["audit", "audit"],
  ])("is served by %s, which warns once with the number of unknown migrations", async (service, schema) => {
    const env = { DATABASE_URL: await freshDatabase(), INTERNAL_AUTH_TOKEN, ADMIN_TOKEN };
    const store: Record<string, string> =
      service === "registry" ? { ROUTE_STORE_URL: await freshRouteStoreUrl() } : {};
    const first = await start(service, { ...env, ...store });
    expect(warnings(first)).toEqual([]);
    expect(await first.stop()).toBe(0);
    const sql = postgres(env.DATABASE_URL, { max: 1, onnotice: () => {} });
    try {
      await sql`insert into ${sql(`${schema}.schema_migrations`)} (written_at_ms, hash)
        values (9000000000000, 'a'), (9000000000001, 'b')`;
    } finally {
      await sql.end();
    }
    const older = await start(service, { ...env, ...store });
    expect((await fetch(`${older.internalUrl}/health/live`)).status).toBe(200);
    await waitFor(() => warnings(older).length > 0);
    expect(warnings(older)).toEqual([expect.objectContaining({ level: "warn", schema, migrations: 2 })]);
  });

  // OP-96
  test("stops the start with exit code 1 when a newer migration refuses older versions", async () => {
    const env = { DATABASE_URL: await freshDatabase(), INTERNAL_AUTH_TOKEN };
    expect(await (await start("identity", env)).stop()).toBe(0);
    const sql = postgres(env.DATABASE_URL, { max: 1, onnotice: () => {} });
    try {
      await sql`insert into identity.schema_migrations (written_at_ms, hash, refuses_older)
        values (9000000000000, 'a', null), (9000000000001, 'b', 'they count no members.')`;
    } finally {
      await sql.end();
    }
    const refused = String(await rejection(start("identity", env)));
    expect(refused).toContain("exited with code 1: Could not start: ");
    expect(refused).toContain(
      "A newer version has migrated schema identity, and this version cannot serve it: they count no members. Start",
    );
  });

  // OP-76
  test("is migrated completely by the next start after a process died during a migration", async () => {
    const DATABASE_URL = await freshDatabase();
    const env = { DATABASE_URL, INTERNAL_AUTH_TOKEN };
    const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => {} });
    const look = postgres(DATABASE_URL, { max: 1, onnotice: () => {} });
    try {
      // Creating the table identity.members waits for the lock, so the migration stops in the middle.
      await sql`select pg_advisory_lock(${HELD})`;
      await sql.unsafe(`create function public.wait_for_test() returns event_trigger language plpgsql as
        $$ begin
          if exists (select from pg_event_trigger_ddl_commands() where object_identity = 'identity.members') then
            perform pg_advisory_xact_lock(${HELD});
          end if;
        end $$;
        create event trigger in_the_middle on ddl_command_end when tag in ('CREATE TABLE')
          execute function public.wait_for_test()`);
      const dying = Bun.spawn([process.execPath, "apps/identity/main.ts"], {
        env: { PATH: process.env.PATH ?? "", HOST: "127.0.0.1", PORT: "0", INTERNAL_PORT: "0", ...env },
        stdout: "ignore",
        stderr: "ignore",
      });
      await waitFor(
        async () => {
          const [waiting] =
            await look`select from pg_locks where locktype = 'advisory' and not granted and objid = ${HELD}`;
          return waiting !== undefined;
        },
        { timeoutMs: 60_000, what: "the migration to wait in the event trigger" },
      );
      dying.kill("SIGKILL");
      await dying.exited;
      await sql`select pg_advisory_unlock(${HELD})`;
      await start("identity", env);
      const [applied] = await look`select count(*)::integer as count from identity.schema_migrations`;
      const [tables] = await look`select to_regclass('identity.members') is not null as made`;
      expect(applied?.count).toBeGreaterThan(0);
      expect(tables?.made).toBe(true);
    } finally {
      await Promise.all([sql.end(), look.end()]);
    }
  });
});
