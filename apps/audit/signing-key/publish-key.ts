import { StartRefused } from "@ostiary/lib/runtime/service";
import { type Database, lacksPrivilege } from "@ostiary/lib/runtime/stores/database";
import { insertSigningKey } from "../published-checkpoints/sql.ts";
import type { SigningKey } from "./key-file.ts";

/**
 * Adds the key to the log's key set. Only the database role that owns the log may do so. Otherwise, a person with
 * a stolen password of the service's role could publish a key of their own and sign with it.
 *
 * @throws StartRefused if the key is missing and this database user may not add it
 */
export async function publishSigningKey(database: Database, { jwk, kid }: SigningKey): Promise<void> {
  try {
    await insertSigningKey(database, jwk);
  } catch (error) {
    if (!lacksPrivilege(error)) throw error;
    throw new StartRefused(
      `The log lacks the key ${kid} of AUDIT_SIGNING_KEY_FILE, and the user of DATABASE_URL may not add it: run ostiary audit migrate as the user that owns the log, with this AUDIT_SIGNING_KEY_FILE.`,
    );
  }
}
