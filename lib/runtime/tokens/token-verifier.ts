import { errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from "jose";
import { unavailable } from "../../domain/errors/index.ts";
import { isRecord } from "../../domain/json/index.ts";
import { CredentialRefusal, shownValue } from "./credential-refusal.ts";
import { issuerFinder, type NamedIssuer, type TokenIssuer } from "./issuers.ts";
import { ALGORITHMS, type Keys } from "./key-set.ts";
import { readToken, type TokenClaims, type TokenHeader, typeRefusal } from "./token-form.ts";

export interface VerifiedToken {
  readonly issuer: string;
  readonly subject: string;
  readonly expiresAtMs: number;
  readonly claims: TokenClaims;
}

/** Throws a 503 if the key set of the token's issuer is not loaded yet. */
export type VerifyToken = (token: string) => Promise<VerifiedToken | CredentialRefusal>;

interface VerifierOptions {
  readonly issuers: readonly TokenIssuer[];
  /** The places where the operator wrote the issuers and the audiences. Refusals name them. */
  readonly variables: { readonly issuers: string; readonly audiences: string };
  readonly now: () => number;
}

/** The rules for one token, and where the operator wrote its audiences. */
interface TokenRules {
  readonly audiences: readonly string[];
  readonly options: JWTVerifyOptions;
  readonly variable: string;
}

const LEEWAY_SECONDS = 30;

/**
 * Verifies the form, signature, issuer, audience and times of a JWT. Only the keys and rules of the one issuer that the
 * token names count (GW-230).
 */
export function createTokenVerifier({ issuers, variables, now }: VerifierOptions): VerifyToken {
  const find = issuerFinder(issuers, variables.issuers);

  const rulesOf = ({ iss, rules: { audiences } }: NamedIssuer): TokenRules => ({
    audiences,
    variable: variables.audiences,
    options: {
      algorithms: ALGORITHMS,
      issuer: iss,
      requiredClaims: ["exp"],
      clockTolerance: LEEWAY_SECONDS,
      currentDate: new Date(now()),
      ...(audiences.length > 0 && { audience: [...audiences] }),
    },
  });

  /** If no loaded key matches the token, tries once with newer keys. */
  async function payloadOf(
    token: string,
    header: TokenHeader,
    claims: TokenClaims,
    named: NamedIssuer,
  ): Promise<JWTPayload | CredentialRefusal> {
    const { keySet } = named.rules;
    const keys = keySet.current();
    if (keys === null) throw unavailable("auth", new Error("The key set is not loaded."));
    const refused = typeRefusal(header) ?? algorithmRefusal(header);
    if (refused !== null) return refused;
    const verify = async (candidates: Keys) =>
      verifyWith(token, candidates.forClaims(claims), rulesOf(named));
    const payload = await verify(keys);
    if (payload !== NO_KEY) return payload;
    const newer = await keySet.renewed(keys);
    const again = newer === null ? NO_KEY : await verify(newer);
    return again === NO_KEY ? keyNotFound(header) : again;
  }

  return async (token) => {
    const read = readToken(token);
    if (read instanceof CredentialRefusal) return read;
    const named = find(read.claims);
    if (named instanceof CredentialRefusal) return named;
    const payload = await payloadOf(token, read.header, read.claims, named);
    if (payload instanceof CredentialRefusal) return payload;
    const { subjectPath } = named.rules;
    const subject = claimAt(payload, subjectPath);
    if (payload.exp === undefined) return claimMissing("exp");
    if (typeof subject === "string" && subject !== "") {
      return { issuer: named.iss, subject, expiresAtMs: payload.exp * 1000, claims: payload };
    }
    const name = subjectPath.join(".");
    return subject === undefined ? claimMissing(name) : claimInvalid(name);
  };
}

function algorithmRefusal({ alg }: TokenHeader): CredentialRefusal | null {
  if (typeof alg === "string" && ALGORITHMS.includes(alg)) return null;
  return new CredentialRefusal(
    "algorithm",
    `The header's alg is ${shownValue(alg)}. Use a signature by a public key, such as RS256, ES256 or EdDSA.`,
  );
}

/** No key in the key set matches the token's header. */
const NO_KEY = "no key";

async function verifyWith(
  token: string,
  keys: JWTVerifyGetKey,
  rules: TokenRules,
): Promise<JWTPayload | CredentialRefusal | typeof NO_KEY> {
  try {
    return (await jwtVerify(token, keys, rules.options)).payload;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return NO_KEY;
    if (error instanceof errors.JWKSMultipleMatchingKeys) return verifyWithEach(token, error, rules);
    return refusalOf(error, rules);
  }
}

/** Several keys match a header without a `kid`, or have the same (GW-53). Keys of another algorithm are skipped. */
async function verifyWithEach(
  token: string,
  keys: errors.JWKSMultipleMatchingKeys,
  rules: TokenRules,
): Promise<JWTPayload | CredentialRefusal> {
  for await (const key of keys) {
    try {
      return (await jwtVerify(token, key, rules.options)).payload;
    } catch (error) {
      if (isAboutClaims(error)) return refusalOf(error, rules);
    }
  }
  return new CredentialRefusal("signature", "No key that fits the header verifies the signature.");
}

/** The signature was valid, so no other key can help. */
function isAboutClaims(error: unknown): boolean {
  return (
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTExpired ||
    error instanceof errors.JWTInvalid
  );
}

function refusalOf(error: unknown, rules: TokenRules): CredentialRefusal {
  if (error instanceof errors.JWTExpired) {
    return new CredentialRefusal("expired", `The token expired at ${shownTime(error.payload.exp)}.`);
  }
  if (error instanceof errors.JWTClaimValidationFailed) return claimRefusal(error, rules);
  if (error instanceof errors.JWTInvalid) {
    return new CredentialRefusal("malformed", "The token's payload is not a JSON object in UTF-8.");
  }
  if (error instanceof errors.JWSInvalid || error instanceof errors.JOSENotSupported) {
    return new CredentialRefusal(
      "malformed",
      "The token's header is malformed, or requires an extension that is not supported.",
    );
  }
  return new CredentialRefusal("signature", "The key that the header names does not verify the signature.");
}

function claimRefusal(
  { claim, reason, payload }: errors.JWTClaimValidationFailed,
  { audiences, variable }: TokenRules,
): CredentialRefusal {
  if (reason === "missing") return claimMissing(claim);
  if (claim === "aud") {
    const detail = `The token's aud is ${shownValue(payload.aud)}, but ${variable} is ${shownValue(audiences)}.`;
    return new CredentialRefusal("audience", detail);
  }
  if (claim === "nbf" && reason === "check_failed") {
    return new CredentialRefusal("not_yet_valid", `The token is not valid before ${shownTime(payload.nbf)}.`);
  }
  return claimInvalid(claim);
}

function keyNotFound({ kid, alg }: TokenHeader): CredentialRefusal {
  const detail = `The key set has no usable key for kid ${shownValue(kid)} and alg ${shownValue(alg)}.`;
  return new CredentialRefusal("key_not_found", detail);
}

function claimMissing(claim: string): CredentialRefusal {
  return new CredentialRefusal("claim_missing", `The token has no claim ${claim}.`);
}

function claimInvalid(claim: string): CredentialRefusal {
  return new CredentialRefusal("claim_invalid", `The token's claim ${claim} is empty or has a wrong type.`);
}

/** `seconds` counts from the Unix epoch. */
function shownTime(seconds: number | undefined): string {
  const time = new Date((seconds ?? Number.NaN) * 1000);
  return Number.isNaN(time.getTime()) ? shownValue(seconds) : time.toISOString();
}

/** Returns the claim at `path`, or undefined if it is missing. */
export function claimAt(payload: TokenClaims, path: readonly string[]): unknown {
  let value: unknown = payload;
  for (const name of path) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}
