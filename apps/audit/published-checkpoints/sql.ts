import type { Checkpoint, SigningJwk } from "@ostiary/lib/domain/proof";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { jwkOf } from "../signing-key/key-file.ts";

/** A checkpoint as a query for {@link CHECKPOINT_COLUMNS} returns it. */
export type CheckpointRow = Omit<Checkpoint, "map" | "heads"> & { map: string | null; heads: string | null };

export const CHECKPOINT_COLUMNS = sql.raw(
  "number, sealed_at, encode(previous, 'hex') as previous, encode(map, 'hex') as map, encode(heads, 'hex') as heads, jws",
);

export function checkpointOf(row: CheckpointRow): Checkpoint {
  const { number, sealed_at, previous, map, heads, jws } = row;
  return {
    number: Number(number),
    sealed_at: new Date(sealed_at).toISOString(),
    previous,
    ...(map !== null && { map }),
    ...(heads !== null && { heads }),
    jws,
  };
}

/**
 * Returns the newest checkpoints, up to `limit`. If `before` is not null, returns only checkpoints with lower
 * numbers.
 */
export async function selectCheckpoints(
  database: Database,
  before: number | null,
  limit: number,
): Promise<Checkpoint[]> {
  const found = await query<CheckpointRow>(database, "select_checkpoints")`
    select ${CHECKPOINT_COLUMNS} from audit.checkpoints
      where number < ${String(before ?? Number.MAX_SAFE_INTEGER)}::text::bigint
      order by number desc limit ${limit}`;
  return found.map(checkpointOf);
}

/** Returns every key that signed checkpoints, the newest first. */
export async function selectSigningKeys(database: Database): Promise<SigningJwk[]> {
  const found = await query<{ kid: string; x: string }>(database, "select_signing_keys")`
    select kid, x from audit.signing_keys order by added_at desc, kid`;
  return found.map(jwkOf);
}

/** Publishes a key unless it is published already. Rejects if the database user may not add keys. */
export async function insertSigningKey(database: Database, { kid, x }: SigningJwk): Promise<void> {
  if ((await selectSigningKeys(database)).some((known) => known.kid === kid)) return;
  await query(database, "insert_signing_key")`
    insert into audit.signing_keys (kid, x) values (${kid}, ${x}) on conflict do nothing`;
}

/** Returns the number of the first signed checkpoint, or null if none is signed. */
export async function selectFirstSigned(database: Database): Promise<number | null> {
  const [found] = await query<{ number: number | null }>(database, "select_first_signed")`
    select number from audit.checkpoints where jws is not null order by number limit 1`;
  return found?.number ?? null;
}
