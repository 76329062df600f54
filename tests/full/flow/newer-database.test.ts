import { describe, expect, test } from "bun:test";
import { atTestEnd } from "../../support/at-test-end.ts";
import { freshDatabase, freshRouteStoreUrl, services, startProcess, waitFor } from "../../support/index.ts";
import { ADMIN_TOKEN, INTERNAL_AUTH_TOKEN } from "../../support/processes/stack.ts";
import type { RunningProcess } from "../../support/processes/start-process.ts";
import { runSql } from "../../support/stores/sql.ts";

const MESSAGE = "the database is newer than this version";

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
    const later = `(written_at_ms, hash) values (9000000000000, 'a'), (9000000000001, 'b')`;
    await runSql(env.DATABASE_URL, `insert into ${schema}.schema_migrations ${later}`);
    const older = await start(service, { ...env, ...store });
    expect((await fetch(`${older.internalUrl}/health/live`)).status).toBe(200);
    await waitFor(() => warnings(older).length > 0);
    expect(warnings(older)).toEqual([expect.objectContaining({ level: "warn", schema, migrations: 2 })]);
  });
});
