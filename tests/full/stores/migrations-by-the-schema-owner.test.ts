/** Tests of migrations by a database user with the fewest privileges: the owner of an existing schema. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import { freshDatabase, services } from "../../support/index.ts";
import { ROOT } from "../../support/root.ts";
import { connect } from "../../support/stores/sql.ts";

// OP-16
test.if(services().postgres.real).each(["routes", "identity", "audit"])(
  "the owner of schema %s migrates it without CREATE on the database",
  async (schema) => {
    const url = new URL(await freshDatabase());
    const role = `owner_of_${schema}_${crypto.randomUUID().slice(0, 8)}`;
    const sql = connect(url.href);
    await sql.unsafe(`create role ${role} login password 'secret'`);
    await sql.unsafe(`create schema ${schema} authorization ${role}`);
    url.username = role;
    url.password = "secret";
    const database = await openDatabase(url.href, { namespace: schema, poolMax: 2 });
    try {
      expect(await database.migrate(schema, join(ROOT, "drizzle", schema))).toBe(0);
      expect(await database.migrate(schema, join(ROOT, "drizzle", schema))).toBe(0);
      const [row] = await sql.unsafe(
        `select has_database_privilege('${role}', current_database(), 'CREATE') as allowed`,
      );
      expect(row?.allowed).toBe(false);
    } finally {
      await database.close();
      await sql.unsafe(`drop owned by ${role} cascade`);
      await sql.unsafe(`drop role ${role}`);
      await sql.end();
    }
  },
);
