import { systemClock } from "@ostiary/lib/async";
import { checkPeerTls } from "@ostiary/lib/runtime/config";
import { StartRefused } from "@ostiary/lib/runtime/service";
import { lacksPrivilege } from "@ostiary/lib/runtime/stores/database";
import { type Static, Type } from "@sinclair/typebox";
import { auditVariables } from "../config.ts";
import { openAsOwner, ownerVariables } from "../owner-database.ts";
import { SignedRoots, UnknownSigner } from "./root/signed-root.ts";
import { checkSigningKeyFile, loadLogKeys } from "./root/signing-keys.ts";
import type { PassDeps } from "./seal/pass-deps.ts";
import { newMemory } from "./seal/read-pass.ts";
import { selectState } from "./seal/state-sql.ts";

/**
 * The environment variables of jobs that write to the proof: those of the log's owner, the signing key and the name of
 * the log.
 */
export const jobVariables = Type.Object({
  ...ownerVariables.properties,
  AUDIT_SIGNING_KEY_FILE: auditVariables.properties.AUDIT_SIGNING_KEY_FILE,
  AUDIT_LOG_ORIGIN: auditVariables.properties.AUDIT_LOG_ORIGIN,
});
type JobConfig = Readonly<Static<typeof jobVariables>>;

/** Returns every problem with the files that these environment variables name; a check for `loadConfig`. */
export function checkJobConfig(config: Partial<JobConfig>) {
  return [...checkPeerTls(config), ...checkSigningKeyFile(config)];
}

/**
 * Runs a job of the log's owner that writes to the proof. `origin` is the name of the tree that the job begins; without
 * one, the job writes to the tree that the log has.
 *
 * @throws StartRefused if the log is signed and its key is missing, or if this user does not own the log
 */
export async function runOwnerJob(
  config: JobConfig,
  work: (deps: PassDeps) => Promise<void>,
  origin?: string,
): Promise<void> {
  const database = await openAsOwner(config);
  try {
    const { trees, note } = await database.run("select_sealer", selectState);
    const name = origin ?? trees.at(-1)?.origin ?? config.AUDIT_LOG_ORIGIN;
    const keys = await loadLogKeys(config.AUDIT_SIGNING_KEY_FILE, name);
    if (keys === null && note !== null) {
      throw new StartRefused("This log is signed: set AUDIT_SIGNING_KEY_FILE to the service's key file.");
    }
    await work({
      reads: database,
      writes: database,
      memory: newMemory(new SignedRoots(keys, name)),
      origin: name,
      clock: systemClock,
      log: {
        error: (fields, message) => void process.stderr.write(`${message}: ${JSON.stringify(fields)}\n`),
      },
      holder: null,
    });
  } catch (error) {
    if (error instanceof UnknownSigner) throw new StartRefused(error.message);
    if (!lacksPrivilege(error)) throw error;
    throw new StartRefused("The user of DATABASE_URL may not do this: use the user that owns the log.");
  } finally {
    await database.close();
  }
}
