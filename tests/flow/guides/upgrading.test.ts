import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import postgres from "postgres";
import { ADMIN_TOKEN, type Registry, startRegistry } from "../../app/registry/harness.ts";
import { commandsOf } from "../../support/documents.ts";
import { Reader } from "../../support/reader.ts";
import { freshDatabase, services } from "../../support/services.ts";
import { startProcess } from "../../support/start-process.ts";

/** What the guide says of upgrades, and the commands that look before and after. */

setDefaultTimeout(120_000);

const GUIDE = ".github/guides/upgrading.md";

describe("upgrading.md", () => {
  let registry: Registry;
  let reader: Reader;
  beforeAll(async () => {
    registry = await startRegistry();
    reader = await Reader.open({
      REGISTRY_URL: registry.url,
      INTERNAL_URL: registry.internal_url,
      ADMIN_TOKEN,
    });
  });
  afterAll(() => Promise.all([registry.stop(), reader.close()]));

  test("looks for what today's rules refuse, and for what the catalogs would change", async () => {
    const [before = ""] = await commandsOf(GUIDE, "Before");
    expect(await reader.run(before)).toBe("{}\n");
    expect(await Bun.file(join(reader.directory, "services-before.json")).json()).toHaveProperty("services");
    const [catalogs = ""] = await commandsOf(GUIDE, "The order");
    expect(await reader.run(catalogs)).toMatch(/^identity: created/m);
  });

  test("looks at versions, gateways and what is stored afterwards", async () => {
    const [after = ""] = await commandsOf(GUIDE, "After");
    const printed = await reader.run(after);
    expect(printed).toMatch(/^ostiary_build_info\{/);
    expect(printed).toEndWith("\n{}\n");
  });
});

/** Only PostgreSQL has a second session that can change the schema. */
describe.skipIf(!services().postgres.real)("a database that a newer version has migrated", () => {
  const PARTS: [string, Record<string, string>][] = [
    ["identity", { ROLES_FILE: "seeds/roles.yaml" }],
    ["audit", {}],
  ];

  test.each(PARTS)("is served by this version of %s", async (part = "", settings = {}) => {
    const env = { DATABASE_URL: await freshDatabase(), ...settings };
    const first = await startProcess(`apps/${part}/main.ts`, env);
    expect(await first.stop()).toBe(0);
    await migrateFurther(env.DATABASE_URL, part);
    const second = await startProcess(`apps/${part}/main.ts`, env);
    const metrics = await (await fetch(`${second.internal_url}/metrics`)).text();
    expect(metrics).toMatch(/^ostiary_build_info\{.*version="/m);
    expect((await fetch(`${second.internal_url}/health/ready`)).status).toBe(200);
    expect(await second.stop()).toBe(0);
  });

  test("that changed a migration which was applied is refused", async () => {
    const env = { DATABASE_URL: await freshDatabase() };
    await (await startProcess("apps/identity/main.ts", env)).stop();
    await query(env.DATABASE_URL, (sql) => sql`update identity.schema_migrations set hash = 'another'`);
    await expect(startProcess("apps/identity/main.ts", env)).rejects.toThrow(
      "was edited after it was applied",
    );
  });
});

/** What the next version might do: a column more, and a line in the journal that this one does not know. */
async function migrateFurther(database: string, schema: string): Promise<void> {
  const table = schema === "identity" ? "api_keys" : "audit_events";
  await query(database, async (sql) => {
    await sql`alter table ${sql(schema)}.${sql(table)} add column of_the_next_version text`;
    await sql`insert into ${sql(schema)}.schema_migrations (written_at_ms, hash) values (9000000000000, 'next')`;
  });
}

async function query(database: string, run: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(database, { max: 1, onnotice: () => {} });
  try {
    await run(sql);
  } finally {
    await sql.end();
  }
}
