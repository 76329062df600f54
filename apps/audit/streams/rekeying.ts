import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { renewSecrets } from "./rekey-sql.ts";
import type { SecretBox } from "./secrets.ts";

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
