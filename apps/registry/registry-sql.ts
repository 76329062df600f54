import type { RateLimitPolicy } from "@ostiary/lib/domain/routes";
import { type Column, type SQL, sql } from "drizzle-orm";
import type { policies } from "./tables.ts";

/** Returns the condition that a column equals one of `values`. The statement has one parameter for all values. */
export function isOneOf(column: Column, values: readonly string[]): SQL {
  return sql`${column} = any(${textsOf(values)})`;
}

/**
 * Returns values as an SQL array. With a plain subselect, the planner would expect a hundred rows and scan the whole
 * table.
 */
export function textsOf(values: readonly string[]): SQL {
  return sql`array(select value from json_array_elements_text(${JSON.stringify(values)}::json))`;
}

/** Converts a stored policy to the form of a document, without null columns. */
export function policyOf({
  shared,
  requests,
  window_seconds,
  period,
  plans,
  charge,
}: typeof policies.$inferSelect): RateLimitPolicy {
  return {
    shared,
    requests,
    ...(window_seconds !== null && { window_seconds }),
    ...(period !== null && { period }),
    ...(plans !== null && { plans }),
    ...(charge !== null && { charge }),
  };
}
