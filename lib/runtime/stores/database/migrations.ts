import { type SQL, sql } from "drizzle-orm";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { sqlState } from "./failure.ts";
import { type Orm, rows } from "./orm.ts";

/**
 * Applies the migrations of `folder` that the journal of `schema` lacks, in the journal's order, inside the
 * caller's transaction. An advisory lock until the end of the transaction makes replicas that start together
 * wait for each other. Returns the number of applied migrations that the folder lacks. Throws when an applied
 * migration was edited since.
 */
export async function applyMigrations(tx: Orm, schema: string, folder: string): Promise<number> {
  try {
    return await applyMissing(tx, schema, folder);
  } catch (error) {
    const refusal = REFUSALS[sqlState(error) ?? ""];
    throw refusal === undefined ? error : new Error(refusal.replace("{schema}", schema));
  }
}

/** Returns the migrations of a folder, by their times in the journal. */
export function knownMigrations(folder: string): ReadonlySet<number> {
  return new Set(readMigrationFiles({ migrationsFolder: folder }).map(({ folderMillis }) => folderMillis));
}

/** The problems that an operator must solve before the service can start, by SQLSTATE. */
const REFUSALS: Readonly<Record<string, string>> = {
  "42501":
    "The user of DATABASE_URL may not write schema {schema}: grant it CREATE on the database, make it the schema's owner, or let its owner migrate first.",
  "25006": "The server of DATABASE_URL is read-only, as a standby is: name its primary.",
};

async function applyMissing(tx: Orm, schema: string, folder: string): Promise<number> {
  const migrations = readMigrationFiles({ migrationsFolder: folder });
  const journal = sql`${sql.identifier(schema)}.${sql.identifier("schema_migrations")}`;
  // A user without permission to write the schema can work in it, once its owner has migrated.
  const known = await appliedHashes(tx, schema, journal);
  const own = new Set(migrations.map(({ folderMillis }) => folderMillis));
  const newer = (applied: ReadonlyMap<number, string>) =>
    applied
      .keys()
      .filter((when) => !own.has(when))
      .toArray().length;
  if (known !== null && migrations.every(({ folderMillis, hash }) => known.get(folderMillis) === hash)) {
    return newer(known);
  }
  await rows(tx, sql`select pg_advisory_xact_lock(hashtextextended(${`migrations of ${schema}`}, 0))`);
  await rows(tx, sql`create schema if not exists ${sql.identifier(schema)}`);
  await rows(
    tx,
    sql`create table if not exists ${journal} (
      written_at_ms bigint primary key, hash text not null, applied_at timestamptz not null default now())`,
  );
  const hashes = await readHashes(tx, journal);
  for (const migration of migrations) {
    const hash = hashes.get(migration.folderMillis);
    if (hash === migration.hash) continue;
    if (hash !== undefined) {
      throw new Error(
        `A migration in ${folder} (when: ${migration.folderMillis}) was edited after it was applied: put it back as it was, and make the change in a new one.`,
      );
    }
    for (const statement of migration.sql) {
      if (statement.trim() !== "") await rows(tx, sql.raw(statement));
    }
    await rows(
      tx,
      sql`insert into ${journal} (written_at_ms, hash) values (${migration.folderMillis}, ${migration.hash})`,
    );
  }
  return newer(hashes);
}

/** Returns the applied migrations, or null without a journal that this user can read. */
async function appliedHashes(tx: Orm, schema: string, journal: SQL): Promise<Map<number, string> | null> {
  const [found] = await rows<{ readable: boolean }>(
    tx,
    sql`select coalesce(bool_or(has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')), false)
          as readable
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = ${schema} and c.relname = 'schema_migrations'`,
  );
  return found?.readable ? await readHashes(tx, journal) : null;
}

async function readHashes(tx: Orm, journal: SQL): Promise<Map<number, string>> {
  const applied = await rows<{ written_at_ms: number; hash: string }>(
    tx,
    sql`select written_at_ms, hash from ${journal}`,
  );
  return new Map(applied.map((row) => [Number(row.written_at_ms), row.hash]));
}
