import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";

/** The secrets that sign now, in encrypted form. */
export interface SecretRow {
  secret: string;
  /** The secret before the last rotation; null if there is none, or if its overlap has ended. */
  previous_secret: string | null;
}

export const SECRET_COLUMNS = sql.raw(
  "stream.secret, case when stream.previous_secret_until > clock_timestamp() then stream.previous_secret end as previous_secret",
);

/** Returns the secrets that sign now, in encrypted form. */
export function secretsThatSign({ secret, previous_secret }: SecretRow): string[] {
  return previous_secret === null ? [secret] : [secret, previous_secret];
}

/** The stored secrets of a stream, in encrypted form. */
export type StoredSecrets = SecretRow & { id: string };

/** Returns the streams with a secret that is not encrypted with the key `keyId`. */
export function selectOlderSecrets(database: Database, keyId: string): Promise<StoredSecrets[]> {
  const isOther = (column: string) => sql`left(${sql.identifier(column)}, 8) <> ${keyId}`;
  return query<StoredSecrets>(database, "select_older_stream_secrets")`
    select id, secret, previous_secret from audit.streams where ${isOther("secret")} or ${isOther("previous_secret")}`;
}

/** Replaces the secrets of a stream, unless they differ from `before`. */
export async function replaceSecrets(
  database: Database,
  before: StoredSecrets,
  { secret, previous_secret }: SecretRow,
): Promise<void> {
  await query(database, "replace_stream_secret")`
    update audit.streams set secret = ${secret}, previous_secret = ${previous_secret}
      where id = ${before.id} and secret = ${before.secret}
        and previous_secret is not distinct from ${before.previous_secret}`;
}
