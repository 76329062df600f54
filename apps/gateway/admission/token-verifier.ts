import { unavailable } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";
import { errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from "jose";
import type { KeySet } from "./key-set.ts";
import { ALGORITHMS } from "./public-key.ts";

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
