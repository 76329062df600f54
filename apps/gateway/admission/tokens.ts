import { hashCredential } from "@ostiary/lib/domain/credentials";
import { unavailable } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";
import { errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from "jose";
import type { CacheOptions } from "./credentials.ts";
import { ALGORITHMS, type KeySet } from "./key-set.ts";
import type { Admitted } from "./principal.ts";
import { type Kept, ResultCache } from "./result-cache.ts";
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
  const { entries, ttl_ms, clock, onCache } = options.cache;
  const subjects = new ResultCache<string | null>(entries, clock);
  const persons = new ResultCache<Admitted | null>(entries, clock);
  onCache?.("tokens", subjects);
  onCache?.("persons", persons);

  async function find(subject: string): Promise<Kept<Admitted | null>> {
    const until_elapsed_ms = clock.elapsed_ms() + ttl_ms;
    const result = await validation.person(issuer, subject);
    const value = result.valid ? admittedPerson(result.user_id) : null;
    return { value, until_elapsed_ms, ends_at_ms: Number.POSITIVE_INFINITY };
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
    ? { value: null, until_elapsed_ms: 0, ends_at_ms: 0 }
    : {
        value: verified.subject,
        until_elapsed_ms: Number.POSITIVE_INFINITY,
        ends_at_ms: verified.expires_at_ms,
      };
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

/** Who a token that holds speaks of, and until when it holds. */
export interface VerifiedToken {
  readonly subject: string;
  readonly expires_at_ms: number;
}

/** null for a token that does not hold. Throws ApiError 503 while the key set is not loaded. */
export type VerifyToken = (token: string) => Promise<VerifiedToken | null>;

export interface TokenRules {
  readonly issuer: string;
  /** Accepted `aud`; none: not checked. */
  readonly audiences: readonly string[];
  /** Names from the payload down to the claim that names the person. */
  readonly subjectPath: readonly string[];
}

const LEEWAY_SECONDS = 30;

/** Verifies signature, issuer, audience and times of JWTs, and reads the claim that names the person. */
export function createTokenVerifier(
  rules: TokenRules,
  keySet: Pick<KeySet, "current" | "renewed">,
  now: () => number,
): VerifyToken {
  const fixed: JWTVerifyOptions = {
    algorithms: ALGORITHMS,
    issuer: rules.issuer,
    requiredClaims: ["exp"],
    clockTolerance: LEEWAY_SECONDS,
    ...(rules.audiences.length > 0 && { audience: [...rules.audiences] }),
  };

  /** Looks once more in a newer key set when none of the keys at hand is the token's. */
  async function payloadOf(token: string): Promise<JWTPayload | null> {
    const keys = keySet.current();
    if (keys === null) throw unavailable("auth", new Error("The key set is not loaded."));
    const options = { ...fixed, currentDate: new Date(now()) };
    const payload = await verifyWith(token, keys, options);
    if (payload !== "no key") return payload;
    const newer = await keySet.renewed(keys);
    const again = newer === null ? null : await verifyWith(token, newer, options);
    return again === "no key" ? null : again;
  }

  return async (token) => {
    const payload = await payloadOf(token);
    if (payload === null) return null;
    const subject = claimAt(payload, rules.subjectPath);
    if (subject === null || payload.exp === undefined) return null;
    return { subject, expires_at_ms: payload.exp * 1000 };
  };
}

async function verifyWith(
  token: string,
  keys: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTPayload | "no key" | null> {
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return "no key";
    if (error instanceof errors.JWKSMultipleMatchingKeys) return verifyWithEach(token, error, options);
    return null;
  }
}

/**
 * For a token whose header fits several keys, for lack of a kid or because keys share one. A key that can not be
 * used with the token's algorithm says nothing of those behind it.
 */
async function verifyWithEach(
  token: string,
  keys: errors.JWKSMultipleMatchingKeys,
  options: JWTVerifyOptions,
): Promise<JWTPayload | null> {
  for await (const key of keys) {
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      if (isAboutClaims(error)) return null;
    }
  }
  return null;
}

/** Whether the signature held and the payload did not: no other key will change that. */
function isAboutClaims(error: unknown): boolean {
  return (
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTExpired ||
    error instanceof errors.JWTInvalid
  );
}

/** The text at `path`; null when it is missing, empty or not a string. */
function claimAt(payload: JWTPayload, path: readonly string[]): string | null {
  let value: unknown = payload;
  for (const name of path) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return null;
    value = value[name];
  }
  return typeof value === "string" && value !== "" ? value : null;
}
