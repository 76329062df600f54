import { hashCredential } from "@ostiary/lib/domain/credentials";
import type { CacheOptions } from "./credential-admission.ts";
import { FlightCache, type Kept } from "./flight-cache.ts";
import type { Admitted } from "./principal.ts";
import type { VerifiedToken, VerifyToken } from "./token-verifier.ts";
import type { ValidationClient } from "./validation-client.ts";

/** Longer tokens are refused unread: the runtime's limit for all headers together is twice this. */
const TOKEN_LENGTH_MAX = 8_192;

export interface TokenAdmissionOptions {
  readonly issuer: string;
  readonly verify: VerifyToken;
  readonly validation: Pick<ValidationClient, "person">;
  readonly cache: CacheOptions;
}

/**
 * Admits JWTs: null for one that does not hold, or whose person is suspended. A verified token is not verified
 * again until it ends, and identity is asked for a person once in the life of a cache entry.
 */
export function admitTokens(
  options: TokenAdmissionOptions,
): (token: string) => Admitted | null | Promise<Admitted | null> {
  const { issuer, verify, validation } = options;
  const { entries, ttl_ms, now } = options.cache;
  const subjects = new FlightCache<string | null>(entries, now);
  const persons = new FlightCache<Admitted | null>(entries, now);

  async function find(subject: string): Promise<Kept<Admitted | null>> {
    const until_ms = now() + ttl_ms;
    const result = await validation.person(issuer, subject);
    return { value: result.valid ? admittedPerson(result.user_id) : null, until_ms };
  }

  function personOf(subject: string): Admitted | null | Promise<Admitted | null> {
    const kept = persons.get(subject);
    return kept !== undefined ? kept : persons.load(subject, () => find(subject));
  }

  return (token) => {
    if (!isCompactJws(token)) return null;
    const hash = hashCredential(token);
    const subject = subjects.get(hash);
    if (typeof subject === "string") return personOf(subject);
    return subjects
      .load(hash, async () => toKeep(await verify(token)))
      .then((verified) => (verified === null ? null : personOf(verified)));
  };
}

/** Refused tokens are not kept: whoever invents them would fill the cache. */
function toKeep(verified: VerifiedToken | null): Kept<string | null> {
  return verified === null
    ? { value: null, until_ms: 0 }
    : { value: verified.subject, until_ms: verified.expires_at_ms };
}

function admittedPerson(user_id: string): Admitted {
  return {
    realm: "directory",
    principal: {
      auth_type: "jwt",
      key_prefix: null,
      user_id,
      organization_id: null,
      member_id: null,
      labels: null,
    },
  };
}

/** Whether `token` could be a signed JWT: three parts between two dots, and not too long. */
function isCompactJws(token: string): boolean {
  if (token.length > TOKEN_LENGTH_MAX) return false;
  const first = token.indexOf(".");
  const second = token.indexOf(".", first + 1);
  return first > 0 && second > first + 1 && second < token.length - 1 && !token.includes(".", second + 1);
}
