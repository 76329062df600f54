import { type SQL, sql } from "drizzle-orm";

/** How long a lease lasts without renewal (AU-105). */
export const LEASE_MS = 5_000;

/** A leased stream. `id` is the stream's id; `lease` is a random id for the claim of one replica. */
export interface HeldLease {
  id: string;
  lease: string;
}

export const leaseEnd = sql`clock_timestamp() + make_interval(secs => ${sql.raw(String(LEASE_MS / 1_000))})`;

/** Returns the SQL assignments that set the pause before the next attempt. */
export function pauseFor(pause_ms: number): SQL {
  const pause = sql`${String(Math.round(pause_ms))}::text::bigint`;
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
