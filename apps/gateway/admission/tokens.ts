import type { Clock } from "@ostiary/lib/async";
import { isStorableSubject } from "@ostiary/lib/contracts/admission";
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

export interface NamedPerson {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
}

interface TokenAdmissionOptions {
  readonly verify: VerifyToken;
  readonly validation: Pick<ValidationClient, "person">;
  readonly named: ResultCache<NamedPerson | CredentialRefusal>;
  readonly persons: AdmissionCache;
  readonly ttlMs: number;
  readonly clock: Pick<Clock, "elapsedMs">;
}

const JWT = { auth_type: "jwt", key_prefix: null } as const;
const SUBJECT_REFUSED = new CredentialRefusal(
  "claim_invalid",
  "The claim that identifies the person is too long, or contains control characters.",
);
const PERSON_REFUSED = new CredentialRefusal("person", "Identity refuses the person: they are suspended.");

/**
 * Admits valid JWTs of persons who are not suspended. Caches the issuer and subject of each valid token until the token
 * expires, and identity's validation of each person for `ttlMs`.
 */
export function admitTokens(
  options: TokenAdmissionOptions,
): (token: string) => Admitted | CredentialRefusal | Promise<Admitted | CredentialRefusal> {
  const { verify, validation, named, persons, ttlMs, clock } = options;

  async function find({ issuer, subject }: NamedPerson): Promise<Kept<Admitted | CredentialRefusal>> {
    const untilElapsedMs = clock.elapsedMs() + ttlMs;
    const result = await validation.person(issuer, subject);
    const value = result.valid ? admittedPerson(JWT, result.user_id) : PERSON_REFUSED;
    return { value, untilElapsedMs, endsAtMs: Number.POSITIVE_INFINITY };
  }

  function admit(
    person: NamedPerson | CredentialRefusal,
  ): Admitted | CredentialRefusal | Promise<Admitted | CredentialRefusal> {
    if (person instanceof CredentialRefusal) return person;
    const kept = persons.get(person.name);
    return kept !== undefined ? kept : persons.load(person.name, () => find(person));
  }

  return (token) => {
    const refusal = shapeRefusal(token);
    if (refusal !== null) return refusal;
    const hash = hashCredential(token);
    const person = named.get(hash);
    if (person !== undefined) return admit(person);
    return named.load(hash, async () => toKeep(await verify(token))).then(admit);
  };
}

/**
 * Converts a verification to a cache entry. The entry of a refused token has already expired, so that forged
 * tokens cannot fill the cache (GW-59).
 */
function toKeep(verified: VerifiedToken | CredentialRefusal): Kept<NamedPerson | CredentialRefusal> {
  if (verified instanceof CredentialRefusal) return { value: verified, untilElapsedMs: 0, endsAtMs: 0 };
  const { issuer, subject, expiresAtMs } = verified;
  if (!isStorableSubject(subject)) return { value: SUBJECT_REFUSED, untilElapsedMs: 0, endsAtMs: 0 };
  return {
    value: { issuer, subject, name: JSON.stringify([issuer, subject]) },
    untilElapsedMs: Number.POSITIVE_INFINITY,
    endsAtMs: expiresAtMs,
  };
}
