import type { Clock } from "@ostiary/lib/async";
import type { ValidationResult } from "@ostiary/lib/contracts/admission";
import {
  authTypeOf,
  hashCredential,
  type ParsedCredential,
  parseCredential,
} from "@ostiary/lib/domain/credentials";
import type { Admitted } from "./principal.ts";
import { type Kept, ResultCache } from "./result-cache.ts";
import { type ValidationClient, validationDown } from "./validation-client.ts";

export interface CacheOptions {
  readonly entries: number;
  readonly ttl_ms: number;
  readonly clock: Pick<Clock, "now" | "elapsed_ms">;
  /** Told of each cache that is made. */
  readonly onCache?: (name: CacheName, cache: CacheState) => void;
}

export type CacheName = "credentials" | "tokens" | "persons";
export type CacheState = Pick<ResultCache<unknown>, "hits" | "misses" | "entries">;

/**
 * Admits API keys and sessions: null for one that identity refuses or that has no known shape. A key that was
 * seen before costs a hash and a look-up; identity is asked only for strings of a known shape.
 */
export function admitCredentials(
  validation: Pick<ValidationClient, "credential">,
  { entries, ttl_ms, clock, onCache }: CacheOptions,
): (credential: string) => Admitted | null | Promise<Admitted | null> {
  const cache = new ResultCache<Admitted | null>(entries, clock);
  onCache?.("credentials", cache);

  async function validate(credential: string, parsed: ParsedCredential): Promise<Kept<Admitted | null>> {
    const until_elapsed_ms = clock.elapsed_ms() + ttl_ms;
    const result = await validation.credential(credential);
    if (!result.valid) return { value: null, until_elapsed_ms, ends_at_ms: Number.POSITIVE_INFINITY };
    const ends_at_ms = endOf(result);
    const admitted = admittedBy(result, parsed);
    // it may have ended while its answer was on the way
    return { value: ends_at_ms > clock.now() ? admitted : null, until_elapsed_ms, ends_at_ms };
  }

  return (credential) => {
    const hash = hashCredential(credential);
    const kept = cache.get(hash);
    if (kept !== undefined) return kept;
    const parsed = parseCredential(credential);
    return parsed === null ? null : cache.load(hash, () => validate(credential, parsed));
  };
}

type ValidResult = Extract<ValidationResult, { valid: true }>;

function admittedBy(result: ValidResult, parsed: ParsedCredential): Admitted {
  const auth_type = authTypeOf(parsed, result.realm);
  if (auth_type === null)
    throw validationDown("auth", `found a ${parsed.kind} credential in the wrong realm`);
  const proof = { auth_type, key_prefix: parsed.displayPrefix };
  if (result.realm === "directory") {
    const principal = {
      ...proof,
      user_id: result.user_id,
      organization_id: null,
      member_id: null,
      labels: null,
    };
    return { realm: "directory", principal };
  }
  const { organization_id, member_id, labels = [] } = result;
  return {
    realm: "organization",
    principal: { ...proof, user_id: null, organization_id, member_id, labels },
  };
}

/** When a key or session ends, in epoch milliseconds; a result without an end never does. */
function endOf(result: ValidResult): number {
  if (result.expires_at === undefined) return Number.POSITIVE_INFINITY;
  const end = Date.parse(result.expires_at);
  if (Number.isNaN(end)) throw validationDown("auth", "sent an expires_at that is not a time");
  return end;
}
