import { sql } from "drizzle-orm";
import type { Database, RunOptions } from "./database.ts";
import { rows } from "./orm.ts";

/**
 * Returns a template tag that runs one statement outside of a transaction. The tag returns the rows like
 * {@link rows}: `` query<{ id: string }>(database, "select_ids")`select id from audit.streams` ``.
 */
export const query =
  <Row = Record<string, unknown>>(database: Database, operation: string, options?: RunOptions) =>
  (strings: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> =>
    database.run(operation, (orm) => rows<Row>(orm, sql(strings, ...values)), options);
