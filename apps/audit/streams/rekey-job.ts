import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { replaceSecrets, type StoredSecrets, selectOlderSecrets } from "./secret-sql.ts";
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

/**
 * Re-encrypts the secrets of streams with the first (current) key of the key file, so that older keys can be
 * removed (AU-98). Does not change a secret that is rotated at the same time.
 */
async function renewSecrets(database: Database, box: SecretBox): Promise<void> {
  const found = await selectOlderSecrets(database, box.currentKeyId);
  for (const row of found) await renew(database, box, row);
}

async function renew(database: Database, box: SecretBox, row: StoredSecrets): Promise<void> {
  try {
    const anew = (text: string) => box.seal(box.open(text, row.id), row.id);
    const previous_secret = row.previous_secret === null ? null : anew(row.previous_secret);
    await replaceSecrets(database, row, { secret: anew(row.secret), previous_secret });
  } catch (error) {
    // skips a secret that cannot be read: the next delivery of its stream reports the error
    if (!(error instanceof SecretUnreadable)) throw error;
  }
}
