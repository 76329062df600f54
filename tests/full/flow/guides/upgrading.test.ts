/**
 * Tests of the commands in upgrading.md, and of what it says about a database that a newer version migrated.
 */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import postgres from "postgres";
import { ADMIN_TOKEN, type Registry, service, startRegistry } from "../../../app/registry/harness.ts";
import { commandsOf } from "../../../support/documents/documents.ts";
import { moved, Reader } from "../../../support/documents/guide-reader.ts";
import { startProcess } from "../../../support/processes/start-process.ts";
import { freshDatabase, services } from "../../../support/stores/services.ts";
import { startQuickStart } from "./quick-start.ts";

setDefaultTimeout(120_000);

const GUIDE = ".github/guides/upgrading.md";

describe("upgrading.md", () => {
  let registry: Registry;
  let reader: Reader;
  beforeEach(async () => {
    registry = await startRegistry();
    reader = await Reader.open({
      REGISTRY_URL: registry.url,
      INTERNAL_URL: registry.internalUrl,
      ADMIN_TOKEN,
    });
  });
  afterEach(() => registry.stop());

  test("lets the new version check the services that an older version stored", async () => {
    const [save = "", start = "", ask = "", ...others] = await commandsOf(GUIDE, "Before");
    expect(others).toEqual([]);
    expect(save).toContain('"$REGISTRY_URL/services" ');
    expect(start).toBe("DATA_DIR=$(mktemp -d) ADMIN_TOKEN=check DEMO=false bun start\n");
    await registry.put("served", service("/served"));
    await reader.run(save);
    const DATA_DIR = join(reader.directory, "of-the-new-version");
    const ostiary = await startQuickStart(reader, { DATA_DIR, ADMIN_TOKEN: "check", DEMO: "false" });
    try {
      const asked = moved(ask, ostiary.places);
      expect(await reader.run(asked)).toContain("served: created");
      const saved = Bun.file(join(reader.directory, "services-before.json"));
      await saved.write((await saved.text()).replaceAll("/served", "/served/../shout"));
      await expect(reader.run(asked)).rejects.toThrow("services.served.user.routes[0].path");
    } finally {
      await ostiary.stop();
    }
  });

  test("shows what the catalogs would change", async () => {
    const [catalogs = ""] = await commandsOf(GUIDE, "The order");
    expect(await reader.run(catalogs)).toMatch(/^identity: created/m);
  });

  test("checks versions, gateways and stored services afterwards", async () => {
    const [after = ""] = await commandsOf(GUIDE, "After");
    const printed = await reader.run(after);
    expect(printed).toMatch(/^ostiary_build_info\{/);
    expect(printed).toEndWith("\n{}\n");
  });
});

// Needs PostgreSQL, because the test changes the schema in a session of its own.
describe.skipIf(!services().postgres.real)("a database that a newer version migrated", () => {
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
    const metrics = await (await fetch(`${second.internalUrl}/metrics`)).text();
    expect(metrics).toMatch(/^ostiary_build_info\{.*version="/m);
    expect((await fetch(`${second.internalUrl}/health/ready`)).status).toBe(200);
    expect(await second.stop()).toBe(0);
  });

  test("is refused when an applied migration was changed", async () => {
    const env = { DATABASE_URL: await freshDatabase() };
    await (await startProcess("apps/identity/main.ts", env)).stop();
    await query(env.DATABASE_URL, (sql) => sql`update identity.schema_migrations set hash = 'another'`);
    await expect(startProcess("apps/identity/main.ts", env)).rejects.toThrow(
      "was edited after it was applied",
    );
  });
});

/** Migrates as a newer version would: adds a column, and a journal entry that this version does not know. */
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
