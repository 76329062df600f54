import { type Clock, Loop } from "@ostiary/lib/async";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { sql } from "drizzle-orm";
import { type SecretBox, SecretUnreadable } from "./secrets.ts";

const REKEY_MS = 10_000;
const RETRY_MS = 1_000;

interface RekeyingDeps {
  writes: Database;
  secrets: SecretBox;
  clock: Clock;
  log: Pick<Logger, "warn">;
}

/** Returns the loop that re-encrypts secrets once the key file has a new first key (AU-98). */
export function rekeying({ writes, secrets, clock, log }: RekeyingDeps): Loop {
  return new Loop({
    task: () => renewSecrets(writes, secrets),
    pauseMs: REKEY_MS,
    retryMs: RETRY_MS,
    onFailure: (err, retry_in_ms) =>
      log.warn(
        { err, retry_in_ms },
        "the audit service could not re-encrypt the secrets of streams and will try again",
      ),
    clock,
  });
}

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

type SealedRow = SecretRow & { id: string };

/**
 * Re-encrypts the secrets of streams with the first (current) key of the key file, so that older keys can be
 * removed (AU-98). Does not change a secret that is rotated at the same time.
 */
async function renewSecrets(database: Database, box: SecretBox): Promise<void> {
  const isOther = (column: string) => sql`left(${sql.identifier(column)}, 8) <> ${box.currentKeyId}`;
  const found = await query<SealedRow>(database, "select_older_stream_secrets")`
    select id, secret, previous_secret from audit.streams where ${isOther("secret")} or ${isOther("previous_secret")}`;
  for (const row of found) await renew(database, box, row);
}

async function renew(
  database: Database,
  box: SecretBox,
  { id, secret, previous_secret }: SealedRow,
): Promise<void> {
  try {
    const anew = (text: string) => box.seal(box.open(text, id), id);
    const previous = previous_secret === null ? null : anew(previous_secret);
    await query(database, "renew_stream_secret")`
      update audit.streams set secret = ${anew(secret)}, previous_secret = ${previous}
        where id = ${id} and secret = ${secret} and previous_secret is not distinct from ${previous_secret}`;
  } catch (error) {
    // skips a secret that cannot be read: the next delivery of its stream reports the error
    if (!(error instanceof SecretUnreadable)) throw error;
  }
}
