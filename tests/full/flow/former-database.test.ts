/** Tests of a start with a database that 0.x made (OP-122). */
import { expect, setDefaultTimeout, test } from "bun:test";
import { openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { freshDatabase, freshRouteStoreUrl, rejection, services, startProcess } from "../../support/index.ts";
import { ADMIN_TOKEN, INTERNAL_AUTH_TOKEN } from "../../support/processes/stack.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

setDefaultTimeout(120_000);

/** The first migration of 0.1.0, by schema. */
const FIRST_OF_0_1 = { routes: 1_794_960_000_000, identity: 1_764_201_600_000, audit: 1_764_201_600_000 };
const SERVICES = { registry: "routes", identity: "identity", audit: "audit" } as const;

/** Writes the journal of a schema as 0.1.0 left it. */
async function writeFormerJournal(url: string, schema: keyof typeof FIRST_OF_0_1): Promise<void> {
  const database = await openDatabase(url, { namespace: "test", poolMax: 1 });
  try {
    await database.transaction("former", async (tx) => {
      await rows(tx, sql.raw(`create schema ${schema}`));
      await rows(
        tx,
        sql.raw(`create table ${schema}.schema_migrations (
        written_at_ms bigint primary key, hash text not null, applied_at timestamptz not null default now())`),
      );
      await rows(
        tx,
        sql.raw(`insert into ${schema}.schema_migrations values (${FIRST_OF_0_1[schema]}, 'x')`),
      );
    });
  } finally {
    await database.close();
  }
}

const sentence = (schema: string) =>
  `Could not start: Schema ${schema} was made by Ostiary 0.x, and this version cannot read it: use a new database`;

// OP-122
test.skipIf(!services().postgres.real).each(["registry", "identity", "audit"] as const)(
  "%s refuses a PostgreSQL database of 0.x with exit code 1 and one sentence",
  async (service) => {
    const DATABASE_URL = await freshDatabase();
    await writeFormerJournal(DATABASE_URL, SERVICES[service]);
    const env = { DATABASE_URL, INTERNAL_AUTH_TOKEN, ADMIN_TOKEN };
    const store: Record<string, string> =
      service === "registry" ? { ROUTE_STORE_URL: await freshRouteStoreUrl() } : {};
    const refused = String(await rejection(startProcess(`apps/${service}/main.ts`, { ...env, ...store })));
    expect(refused).toContain("exited with code 1");
    expect(refused).toContain(sentence(SERVICES[service]));
  },
);

// OP-122
test("identity refuses an embedded database of 0.x with exit code 1 and one sentence", async () => {
  const DATABASE_URL = `pglite://${temporaryFolder("former")}`;
  await writeFormerJournal(DATABASE_URL, "identity");
  const refused = String(
    await rejection(startProcess("apps/identity/main.ts", { DATABASE_URL, INTERNAL_AUTH_TOKEN })),
  );
  expect(refused).toContain("exited with code 1");
  expect(refused).toContain(sentence("identity"));
});
