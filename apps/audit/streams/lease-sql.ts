import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { bigint } from "../bigint-sql.ts";
import { OPERATOR_STREAM } from "./batch.ts";
import type { RetryPlan } from "./retry.ts";

/** How long a lease lasts without renewal (AU-105). */
export const LEASE_MS = 5_000;

/** A leased stream. `id` is the stream's id; `lease` is a random id for the claim of one replica. */
export interface HeldLease {
  id: string;
  lease: string;
}

/** A table whose rows are streams, each with a lease, and the id of a row. */
interface LeasedTable {
  table: SQL;
  id: SQL;
}

export const STREAMS: LeasedTable = { table: sql`audit.streams`, id: sql`stream.id` };
export const OPERATOR_STREAMS: LeasedTable = {
  table: sql`audit.operator_stream`,
  id: sql`${OPERATOR_STREAM}::text`,
};

export const leaseEnd = sql`clock_timestamp() + make_interval(secs => ${sql.raw(String(LEASE_MS / 1_000))})`;

/** Returns the SQL assignments that set the pause before the next attempt. */
export function pauseFor(pause_ms: number): SQL {
  const pause = bigint(Math.round(pause_ms));
  return sql`next_attempt_at = clock_timestamp() + ${pause} * interval '1 millisecond', pause_ms = ${pause}`;
}

/**
 * The SQL condition under which a replica may claim `stream`: its pause is over, and no other replica holds its
 * lease. Ignores a pause or lease that ends too far in the future, because the database's clock was then set back
 * (AU-186).
 */
export const isClaimable = sql`(stream.next_attempt_at <= clock_timestamp()
    or stream.next_attempt_at > clock_timestamp() + stream.pause_ms * interval '1 millisecond')
  and (stream.lease_until is null or stream.lease_until <= clock_timestamp()
    or stream.lease_until > ${leaseEnd} + interval '1 second')`;

/** Renews leases and returns those that are still held. */
export function renewLeases(
  database: Database,
  { table, id }: LeasedTable,
  held: readonly HeldLease[],
): Promise<HeldLease[]> {
  return query<HeldLease>(database, "renew_stream_leases")`
    update ${table} stream set lease_until = ${leaseEnd}
      from json_to_recordset(${JSON.stringify(held)}::text::json) as held(id text, lease text)
      where held.id = ${id} and stream.lease = held.lease returning ${id} as id, stream.lease`;
}

/** Releases the lease. Another replica may claim the stream after `pause_ms`. */
export async function releaseLease(
  database: Database,
  { table, id }: LeasedTable,
  held: HeldLease,
  pause_ms = 0,
): Promise<void> {
  await query(database, "release_stream_lease")`
    update ${table} stream set lease = null, lease_until = null, ${pauseFor(pause_ms)}
      where ${id} = ${held.id} and lease = ${held.lease}`;
}

/** The SQL assignments that end a row of failures. */
export const HEALED = sql`failures = 0, failing_ms = 0, failing_since = null, last_error = null`;

/** Returns the SQL assignments that record a delivery request that failed, and release the lease. */
export function failed(error: string, { failures, failing_ms, pause_ms }: RetryPlan): SQL {
  return sql`lease = null, lease_until = null, last_error = ${error},
    failing_since = coalesce(failing_since, clock_timestamp()), failures = ${failures},
    failing_ms = ${bigint(failing_ms)}, ${pauseFor(pause_ms)}`;
}
