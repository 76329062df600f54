import { type Database, query, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import type { SchemaName } from "./schemas.ts";

const MAJOR = 10_000;

/** Returns the major version of the server. */
export async function selectServerMajor(database: Database): Promise<number> {
  const [found] = await query<{ version: number }>(database, "select_server_version")`
    select current_setting('server_version_num')::integer as version`;
  return Math.floor((found?.version ?? 0) / MAJOR);
}

/** Returns the times of a schema's applied migrations, or null if the schema has no migration journal. */
export async function selectMigrations(database: Database, schema: SchemaName): Promise<number[] | null> {
  const journal = sql`${sql.identifier(schema)}.schema_migrations`;
  return database.run("select_migrations", async (orm) => {
    const [found] = await rows<{ exists: boolean }>(
      orm,
      sql`select to_regclass(${`${schema}.schema_migrations`}) is not null as exists`,
    );
    if (found?.exists !== true) return null;
    const applied = await rows<{ written_at_ms: number | string }>(
      orm,
      sql`select written_at_ms from ${journal} order by written_at_ms`,
    );
    return applied.map((row) => Number(row.written_at_ms));
  });
}

/** Returns the schemas among `schemas` that the database has. */
export async function selectSchemas(
  database: Database,
  schemas: readonly SchemaName[],
): Promise<readonly string[]> {
  const found = await query<{ name: string }>(database, "select_schemas")`
    select nspname as name from pg_namespace where nspname in ${schemas} order by nspname`;
  return found.map(({ name }) => name);
}

/** Returns the roles that own objects in `schemas`, or have rights on them. */
export async function selectRolesOf(
  database: Database,
  schemas: readonly SchemaName[],
): Promise<readonly string[]> {
  const found = await query<{ name: string }>(database, "select_roles_of_schemas")`
    with spaces as (select oid, nspowner, nspacl from pg_namespace where nspname in ${schemas}),
      relations as (select c.oid, relowner, relacl from pg_class c join spaces n on n.oid = relnamespace),
      functions as (select proowner, proacl from pg_proc p join spaces n on n.oid = pronamespace),
      found (role) as (
        select nspowner from spaces
        union select relowner from relations
        union select proowner from functions
        union select (aclexplode(nspacl)).grantee from spaces
        union select (aclexplode(relacl)).grantee from relations
        union select (aclexplode(proacl)).grantee from functions
        union select (aclexplode(attacl)).grantee from pg_attribute a join relations r on r.oid = attrelid
      )
      select rolname as name from pg_roles where oid in (select role from found) order by rolname`;
  return found.map(({ name }) => name);
}

/** Returns the roles among `roles` that the server does not have. */
export async function selectMissingRoles(
  database: Database,
  roles: readonly string[],
): Promise<readonly string[]> {
  if (roles.length === 0) return [];
  const found = await query<{ name: string }>(database, "select_roles")`
    select rolname as name from pg_roles where rolname in ${roles}`;
  const known = new Set(found.map(({ name }) => name));
  return roles.filter((role) => !known.has(role));
}

/** Gathers the query planner's statistics, which a dump does not contain. */
export async function analyze(database: Database): Promise<void> {
  await query(database, "analyze")`analyze`;
}
