import { sql } from "drizzle-orm";
import type { IndexStep } from "./migration-steps.ts";
import { type Orm, rows } from "./orm.ts";

/** Builds an index outside of a transaction, unless a valid one exists. `lockMs` limits the waits for locks. */
export async function buildIndex(orm: Orm, schema: string, step: IndexStep, lockMs: number): Promise<void> {
  if (step.isPartitioned) await buildOnPartitions(orm, schema, step, lockMs);
  else await build(orm, schema, step);
}

type Build = Pick<IndexStep, "name" | "table" | "isUnique" | "definition">;

async function build(orm: Orm, schema: string, { name, table, isUnique, definition }: Build): Promise<void> {
  const isValid = await validityOf(orm, schema, name);
  if (isValid === true) return;
  if (isValid === false) {
    await rows(orm, sql`drop index concurrently ${sql.identifier(schema)}.${sql.identifier(name)}`);
  }
  const kind = isUnique ? "unique index" : "index";
  await rows(orm, sql.raw(`create ${kind} concurrently ${name} on ${table}${definition}`));
}

/** The index of a partitioned table (OP-95) becomes valid when each partition has its own. */
async function buildOnPartitions(
  orm: Orm,
  schema: string,
  { name, table, isUnique, definition }: IndexStep,
  lockMs: number,
): Promise<void> {
  if ((await validityOf(orm, schema, name)) === null) {
    const kind = isUnique ? "unique index" : "index";
    await withLockTimeout(orm, lockMs, `create ${kind} ${name} on only ${table}${definition}`);
  }
  for (const partition of await partitionsWithout(orm, table, `${schema}.${name}`)) {
    // Names have at most 63 characters. The partition's name could be too long, so the name of its index contains the
    // partition's oid.
    const own = `${name}_${partition.oid}`;
    await build(orm, schema, { name: own, table: partition.table, isUnique, definition });
    await withLockTimeout(orm, lockMs, `alter index ${schema}.${name} attach partition ${schema}.${own}`);
  }
}

async function withLockTimeout(orm: Orm, lockMs: number, statement: string): Promise<void> {
  await rows(orm, sql`select set_config('lock_timeout', ${String(lockMs)}, false)`);
  try {
    await rows(orm, sql.raw(statement));
  } finally {
    await rows(orm, sql`reset lock_timeout`);
  }
}

async function validityOf(orm: Orm, schema: string, name: string): Promise<boolean | null> {
  const [found] = await rows<{ valid: boolean }>(
    orm,
    sql`select indisvalid as valid from pg_index where indexrelid = to_regclass(${`${schema}.${name}`})`,
  );
  return found?.valid ?? null;
}

interface Partition {
  readonly oid: string;
  readonly table: string;
}

function partitionsWithout(orm: Orm, table: string, index: string): Promise<Partition[]> {
  return rows<{ oid: string; table: string }>(
    orm,
    sql`select inhrelid::text as oid, inhrelid::regclass::text as table from pg_inherits
      where inhparent = to_regclass(${table}) and not exists (
        select from pg_index part join pg_inherits attached on attached.inhrelid = part.indexrelid
        where part.indrelid = pg_inherits.inhrelid and attached.inhparent = to_regclass(${index}))
      order by 1`,
  );
}
