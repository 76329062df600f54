import type { Clock } from "@ostiary/lib/async";
import type { ValidationResult } from "@ostiary/lib/contracts/admission";
import {
  authTypeOf,
  hashCredential,
  type ParsedCredential,
  parseCredential,
} from "@ostiary/lib/domain/credentials";
import { CredentialRefusal } from "@ostiary/lib/runtime/tokens";
import { type Admitted, admittedPerson } from "./principal.ts";
import type { Kept, ResultCache } from "./result-cache.ts";
import { type ValidationClient, validationDown } from "./validation-client.ts";

export type AdmissionCache = ResultCache<Admitted | CredentialRefusal>;

interface CacheOptions {
  readonly cache: AdmissionCache;
  readonly ttlMs: number;
  readonly clock: Pick<Clock, "now" | "elapsedMs">;
}

export type CacheName = "credentials" | "tokens" | "persons";
export type CacheState = Pick<ResultCache<unknown>, "hits" | "misses" | "entries">;

const SHAPE_REFUSED = new CredentialRefusal(
  "api_key",
  "X-API-Key does not have the form of a key or session.",
);
const KEY_REFUSED = new CredentialRefusal(
  "api_key",
  "Identity refuses the key or session: it is unknown, revoked or expired, or its owner is suspended.",
);

/**
 * Admits API keys and sessions that identity accepts. A cached result costs one hash and one lookup.
 * Malformed credentials are refused without a call to identity.
 */
export function admitCredentials(
  validation: Pick<ValidationClient, "credential">,
  { cache, ttlMs, clock }: CacheOptions,
): (credential: string) => Admitted | CredentialRefusal | Promise<Admitted | CredentialRefusal> {
  async function validate(
    credential: string,
    parsed: ParsedCredential,
  ): Promise<Kept<Admitted | CredentialRefusal>> {
    const untilElapsedMs = clock.elapsedMs() + ttlMs;
    const result = await validation.credential(credential);
    if (!result.valid) return { value: KEY_REFUSED, untilElapsedMs, endsAtMs: Number.POSITIVE_INFINITY };
    const endsAtMs = endOf(result);
    const admitted = admittedBy(result, parsed);
    // The credential may have expired during the call to identity.
    return { value: endsAtMs > clock.now() ? admitted : KEY_REFUSED, untilElapsedMs, endsAtMs };
  }

  return (credential) => {
    const hash = hashCredential(credential);
    const kept = cache.get(hash);
    if (kept !== undefined) return kept;
    const parsed = parseCredential(credential);
    return parsed === null ? SHAPE_REFUSED : cache.load(hash, () => validate(credential, parsed));
  };
}

type ValidResult = Extract<ValidationResult, { valid: true }>;

function admittedBy(result: ValidResult, parsed: ParsedCredential): Admitted {
  const auth_type = authTypeOf(parsed, result.realm);
  if (auth_type === null)
    throw validationDown("auth", `found a ${parsed.kind} credential in the wrong realm`);
  const proof = { auth_type, key_prefix: parsed.displayPrefix };
  if (result.realm === "directory") return admittedPerson(proof, result.user_id);
  const { organization_id, member_id, labels = [], plan = null } = result;
  return {
    realm: "organization",
    principal: { ...proof, user_id: null, organization_id, member_id, labels, plan },
  };
}

/** Returns the time at which a key or session expires, in epoch milliseconds; `Infinity` if it never does. */
function endOf(result: ValidResult): number {
  if (result.expires_at === undefined) return Number.POSITIVE_INFINITY;
  const end = Date.parse(result.expires_at);
  if (Number.isNaN(end)) throw validationDown("auth", "sent an expires_at that is not a time");
  return end;
}
