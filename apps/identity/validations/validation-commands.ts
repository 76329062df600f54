import type { IdpSubject, ValidationResult } from "@ostiary/lib/contracts/admission";
import type { Dependencies } from "../dependencies.ts";
import { personOfSubject } from "../users/user-commands.ts";
import { findUserBySubject } from "../users/user-sql.ts";
import { INVALID, isSession, judge, ownCredential } from "./validation.ts";

/** Validates an IdP subject and returns its person. A new subject becomes a new person. */
export async function validateSubject(deps: Dependencies, idp: IdpSubject): Promise<ValidationResult> {
  const { validations } = deps;
  const person =
    (await validations.run("select_user_by_subject", (orm) => findUserBySubject(orm, idp))) ??
    (await validations.transaction("create_user", (tx) => personOfSubject(tx, deps, idp), {
      lane: `${idp.issuer} ${idp.subject}`,
    }));
  if (person.status === "suspended") return INVALID;
  return { valid: true, realm: "directory", user_id: person.id };
}

/**
 * Validates an API key or session and returns its holder. Looks up the hash of the whole text, so that the response
 * time reveals nothing about a secret. If no row is found, looks up the next accepted hash. Text that cannot be a
 * credential of this deployment needs no query.
 */
export async function validateCredential(
  { credentials, roles, clock, secrets, lastUses }: Dependencies,
  text: string,
): Promise<ValidationResult> {
  const credential = ownCredential(text, secrets.brand);
  if (credential === null) return INVALID;
  const stored = isSession(credential) ? credentials.sessions : credentials.keys;
  const hashes = secrets.hashesOf(text);
  for (const hash of hashes) {
    const row = await stored.find(hash);
    if (row === null) continue;
    const now = clock.now();
    const result = judge(credential, row, roles, now);
    if (result.valid && row.key_id !== null) {
      const [current] = hashes;
      lastUses.note({ id: row.key_id, atMs: now, ...(hash !== current && { new_hash: current }) });
    }
    return result;
  }
  return INVALID;
}
