import { type SQL, sql } from "drizzle-orm";

/** Returns a number as a SQL parameter of the type `bigint`, which drivers would not choose by themselves. */
export const bigint = (value: number): SQL => sql`${String(value)}::text::bigint`;
