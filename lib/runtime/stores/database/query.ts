import { sql } from "drizzle-orm";
import type { Database, RunOptions } from "./database.ts";
import { rows } from "./orm.ts";

/** Runs one statement outside of a transaction: `` query<Row>(database, "select_ids")`select id from …` ``. */
export const query =
  <Row = Record<string, unknown>>(database: Database, operation: string, options?: RunOptions) =>
  (strings: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> =>
    database.run(operation, (orm) => rows<Row>(orm, sql(strings, ...values)), options);
