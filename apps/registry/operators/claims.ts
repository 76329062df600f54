import type { ListedClaims } from "@ostiary/lib/runtime/config/operators-file";
import { claimAt, type TokenClaims } from "@ostiary/lib/runtime/tokens";

/**
 * Tells whether a token has every claim of an operator (RG-124). Compares all claims, so that the response time
 * reveals nothing about the claims.
 */
export function fitsClaims({ pairs }: ListedClaims, token: TokenClaims): boolean {
  let fits = true;
  for (const [name, value] of pairs) {
    if (!claimMatches(claimNamed(token, name), value)) fits = false;
  }
  return fits;
}

/** Returns the claim with exactly this name. If there is none, reads the name as a dot-separated path. */
function claimNamed(token: TokenClaims, name: string): unknown {
  return Object.hasOwn(token, name) ? token[name] : claimAt(token, name.split("."));
}

/** Tells whether a claim is `value`, or a list that contains `value`. */
function claimMatches(claim: unknown, value: string): boolean {
  return Array.isArray(claim) ? claim.some((item) => isValue(item, value)) : isValue(claim, value);
}

/**
 * Tells whether a claim equals `value`. Numbers that JavaScript cannot represent exactly never match, because two
 * different ids could be rounded to the same number.
 */
function isValue(claim: unknown, value: string): boolean {
  if (typeof claim === "string") return claim === value;
  return (typeof claim === "boolean" || Number.isSafeInteger(claim)) && String(claim) === value;
}
