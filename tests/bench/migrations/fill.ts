import type postgres from "postgres";
import type { Progress } from "../bench.ts";
import { whole } from "../measure/table.ts";
import type { Fill } from "./tables.ts";

/** Prepares a session for bulk inserts: disables triggers and foreign keys, and allows more memory. */
export async function prepareFilling(sql: postgres.Sql): Promise<void> {
  await sql.unsafe("set session_replication_role = replica");
  await sql.unsafe("set maintenance_work_mem = '1GB'");
  await sql.unsafe("set work_mem = '256MB'");
}

/** Fills a table with rows. Drops its indexes first and builds them at the end, which is much faster. */
export async function fillTable(
  sql: postgres.Sql,
  { name, statements }: Fill,
  rows: number,
  progress: Progress,
): Promise<void> {
  const beganMs = performance.now();
  const indexes = await removableIndexes(sql, name);
  for (const { remove } of indexes) await sql.unsafe(remove);
  for (const statement of statements(rows)) await sql.unsafe(statement);
  for (const { restore } of indexes) await sql.unsafe(restore);
  await sql.unsafe(`vacuum analyze ${name}`);
  progress(`${name}: filled with ${whole(rows)} rows in ${whole((performance.now() - beganMs) / 1000)} s`);
}

interface Index {
  readonly remove: string;
  readonly restore: string;
}

/**
 * Returns the statements that drop and restore the indexes of a table. Omits indexes that foreign keys need,
 * and all indexes of partitioned tables.
 */
function removableIndexes(sql: postgres.Sql, name: string): Promise<Index[]> {
  return sql<Index[]>`
    select
      case when own.oid is null then format('drop index %s', i.indexrelid::regclass)
        else format('alter table %s drop constraint %I', i.indrelid::regclass, own.conname) end as remove,
      case when own.oid is null then pg_get_indexdef(i.indexrelid)
        else format('alter table %s add constraint %I %s', i.indrelid::regclass, own.conname,
          pg_get_constraintdef(own.oid)) end as restore
    from pg_index i
      join pg_class filled on filled.oid = i.indrelid and filled.relkind = 'r'
      left join pg_constraint own on own.conindid = i.indexrelid and own.contype in ('p', 'u')
    where i.indrelid = ${name}::regclass
      and not exists (select from pg_constraint other where other.conindid = i.indexrelid and other.contype = 'f')`;
}
