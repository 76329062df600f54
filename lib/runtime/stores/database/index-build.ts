import { sql } from "drizzle-orm";
import type { IndexStep } from "./migration-steps.ts";
import { type Orm, rows } from "./orm.ts";

/**
 * Builds an index outside of transactions, unless it is there. A build that was broken off leaves an invalid index,
 * which is built anew.
 */
export async function buildIndex(orm: Orm, schema: string, { name, statement }: IndexStep): Promise<void> {
  const [found] = await rows<{ valid: boolean }>(
    orm,
    sql`select indisvalid as valid from pg_index where indexrelid = to_regclass(${`${schema}.${name}`})`,
  );
  if (found?.valid === true) return;
  if (found !== undefined) {
    await rows(orm, sql`drop index concurrently ${sql.identifier(schema)}.${sql.identifier(name)}`);
  }
  await rows(orm, sql.raw(statement));
}
