import type { Clock } from "@ostiary/lib/async";
import { hashCredential } from "@ostiary/lib/domain/credentials";
import {
  CredentialRefusal,
  shapeRefusal,
  type VerifiedToken,
  type VerifyToken,
} from "@ostiary/lib/runtime/tokens";
import type { AdmissionCache } from "./keys-and-sessions.ts";
import { type Admitted, admittedPerson } from "./principal.ts";
import type { Kept, ResultCache } from "./result-cache.ts";
import type { ValidationClient } from "./validation-client.ts";

interface TokenAdmissionOptions {
  readonly issuer: string;
  readonly verify: VerifyToken;
  readonly validation: Pick<ValidationClient, "person">;
  /** The subjects of verified tokens. */
  readonly subjects: ResultCache<string | CredentialRefusal>;
  readonly persons: AdmissionCache;
  /** How long identity's validation of a person is cached. */
  readonly ttlMs: number;
  readonly clock: Pick<Clock, "elapsedMs">;
}

const JWT = { auth_type: "jwt", key_prefix: null } as const;
const PERSON_REFUSED = new CredentialRefusal("person", "Identity refuses the person: they are suspended.");

/**
 * Admits valid JWTs of persons who are not suspended. Caches the subject of each valid token until the token
 * expires, and identity's validation of each person for `ttlMs`.
 */
export function admitTokens(
  options: TokenAdmissionOptions,
): (token: string) => Admitted | CredentialRefusal | Promise<Admitted | CredentialRefusal> {
  const { issuer, verify, validation, subjects, persons, ttlMs, clock } = options;

  async function find(subject: string): Promise<Kept<Admitted | CredentialRefusal>> {
    const untilElapsedMs = clock.elapsedMs() + ttlMs;
    const result = await validation.person(issuer, subject);
    const value = result.valid ? admittedPerson(JWT, result.user_id) : PERSON_REFUSED;
    return { value, untilElapsedMs, endsAtMs: Number.POSITIVE_INFINITY };
  }

  function personOf(subject: string): Admitted | CredentialRefusal | Promise<Admitted | CredentialRefusal> {
    const kept = persons.get(subject);
    return kept !== undefined ? kept : persons.load(subject, () => find(subject));
  }

  return (token) => {
    const refusal = shapeRefusal(token);
    if (refusal !== null) return refusal;
    const hash = hashCredential(token);
    const subject = subjects.get(hash);
    if (typeof subject === "string") return personOf(subject);
    return subjects
      .load(hash, async () => toKeep(await verify(token)))
      .then((verified) => (typeof verified === "string" ? personOf(verified) : verified));
  };
}

/**
 * Converts a verification to a cache entry. The entry of a refused token has already expired, so that forged
 * tokens cannot fill the cache (GW-59).
 */
function toKeep(verified: VerifiedToken | CredentialRefusal): Kept<string | CredentialRefusal> {
  return verified instanceof CredentialRefusal
    ? { value: verified, untilElapsedMs: 0, endsAtMs: 0 }
    : {
        value: verified.subject,
        untilElapsedMs: Number.POSITIVE_INFINITY,
        endsAtMs: verified.expiresAtMs,
      };
}
