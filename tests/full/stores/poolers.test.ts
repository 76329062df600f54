/** Tests of poolers between a service and PostgreSQL, with a real PgBouncer. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openDatabase, rows, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { freshDatabase, rejection, services } from "../../support/index.ts";
import { ROOT } from "../../support/root.ts";
import type { BinaryTestServer } from "../../support/stores/binary-server.ts";
import { hasPgBouncer, startPgBouncer } from "../../support/stores/pgbouncer.ts";

const settings = sql`select current_setting('TimeZone') as zone, current_setting('idle_session_timeout') as idle,
  current_setting('search_path') as path, current_setting('statement_timeout') as statement`;

describe.skipIf(!services().postgres.real || !hasPgBouncer)("PgBouncer", () => {
  let databaseUrl: string;
  const started: BinaryTestServer[] = [];

  const start = async (changes: Record<string, string | number>) => {
    const server = await startPgBouncer(databaseUrl, changes);
    started.push(server);
    return server;
  };
  const refusal = async (url: string) => {
    const error = await rejection(openDatabase(url, { namespace: "suite" }));
    expect(error).toBeInstanceOf(StoreUnavailable);
    return error instanceof Error ? error.message : "";
  };

  beforeAll(async () => {
    databaseUrl = await freshDatabase();
  });
  afterAll(() => Promise.all(started.map((server) => server.close())));

  // OP-131
  test("with its default settings gives sessions the settings that a service needs", async () => {
    const { url } = await start({});
    const database = await openDatabase(url, { namespace: "routes", poolMax: 5 });
    await database.migrate("routes", join(ROOT, "drizzle/routes"));
    const found = await Promise.all(
      Array.from({ length: 20 }, () => database.transaction("select", (tx) => rows(tx, settings))),
    );
    expect(found).toEqual(Array(20).fill([{ zone: "UTC", idle: "0", path: "public", statement: "10s" }]));
    await database.close();
  });

  // OP-131
  test.each<Record<string, string | number>>([
    { pool_mode: "transaction" },
    { pool_mode: "transaction", default_pool_size: 2 },
    { pool_mode: "transaction", server_round_robin: 1 },
    { pool_mode: "transaction", server_round_robin: 1, default_pool_size: 2 },
    { pool_mode: "statement" },
    { pool_mode: "statement", server_round_robin: 1 },
  ])("with %p is refused at each start with what it needs", async (mode) => {
    const { url } = await start({ ...mode, max_client_conn: 400 });
    const { host } = new URL(url);
    const shares = `The pooler at ${host} (DATABASE_URL) shares sessions between clients, as in transaction mode: set its pool_mode to session for this database, or name PostgreSQL itself.`;
    const starts = Array.from({ length: 20 });
    for (const _ of starts) expect(await refusal(url)).toBe(shares);
    expect(await Promise.all(starts.map(() => refusal(url)))).toEqual(starts.map(() => shares));
  });

  test("refuses a setting of the URL, and the message says where to name the setting", async () => {
    const { url } = await start({});
    const { host } = new URL(url);
    expect(await refusal(`${url}?work_mem=8MB`)).toBe(
      `The pooler at ${host} refuses a setting in DATABASE_URL: remove the setting, or name it in ignore_startup_parameters of the pooler.`,
    );
  });
});
