import type { Checkpoint, SigningJwk } from "@ostiary/lib/domain/proof";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { jwkOf } from "./signing-key.ts";

/** A checkpoint as the database gives it, by {@link CHECKPOINT_COLUMNS}. */
export type CheckpointRow = Checkpoint;

export const CHECKPOINT_COLUMNS = sql.raw(
  "number, sealed_at, encode(previous, 'hex') as previous, encode(heads, 'hex') as heads, jws",
);

export function checkpointOf(row: CheckpointRow): Checkpoint {
  const { number, sealed_at, previous, heads, jws } = row;
  return { number: Number(number), sealed_at: new Date(sealed_at).toISOString(), previous, heads, jws };
}

/** The newest checkpoints, below `before` if that is given. */
export async function selectCheckpoints(
  database: Database,
  before: number | null,
  limit: number,
): Promise<Checkpoint[]> {
  const found = await database.run("select_checkpoints", (orm) =>
    rows<CheckpointRow>(
      orm,
      sql`select ${CHECKPOINT_COLUMNS} from audit.checkpoints
        where number < ${String(before ?? Number.MAX_SAFE_INTEGER)}::text::bigint
        order by number desc limit ${limit}`,
    ),
  );
  return found.map(checkpointOf);
}

/** Every key that checkpoints were signed by, the newest first. */
export async function selectSigningKeys(database: Database): Promise<SigningJwk[]> {
  const found = await database.run("select_signing_keys", (orm) =>
    rows<{ kid: string; x: string }>(
      orm,
      sql`select kid, x from audit.signing_keys order by added_at desc, kid`,
    ),
  );
  return found.map(jwkOf);
}

export async function insertSigningKey(database: Database, { kid, x }: SigningJwk): Promise<void> {
  await database.run("insert_signing_key", (orm) =>
    rows(orm, sql`insert into audit.signing_keys (kid, x) values (${kid}, ${x}) on conflict do nothing`),
  );
}

/** The number of the first checkpoint that is signed; null when none is. */
export async function selectFirstSigned(database: Database): Promise<number | null> {
  const [found] = await database.run("select_first_signed", (orm) =>
    rows<{ number: number | null }>(
      orm,
      sql`select number from audit.checkpoints where jws is not null order by number limit 1`,
    ),
  );
  return found?.number ?? null;
}
