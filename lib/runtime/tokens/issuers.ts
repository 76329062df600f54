import { unavailable } from "../../domain/errors/index.ts";
import { CredentialRefusal, shownValue } from "./credential-refusal.ts";
import type { KeySet } from "./key-set.ts";
import { isIssuerOf, type TokenClaims } from "./token-form.ts";

export interface TokenIssuer {
  /** The exact `iss`, or a template with one `{tenantid}`. */
  readonly issuer: string;
  /** The tenants that a template accepts, or null for an exact issuer. */
  readonly tenants: ReadonlySet<string> | "any" | null;
  /** The accepted values of `aud`. An empty list turns the check off. */
  readonly audiences: readonly string[];
  /** The names that lead from the token's payload to the claim with the subject. */
  readonly subjectPath: readonly string[];
  readonly keySet: Pick<KeySet, "current" | "renewed">;
}

export interface NamedIssuer {
  /** The token's `iss`, never a template. */
  readonly iss: string;
  readonly rules: TokenIssuer;
}

/**
 * Returns the one issuer that unverified claims name (GW-230), or the refusal. Throws a 503 if there are no issuers.
 */
type FindIssuer = (claims: TokenClaims) => NamedIssuer | CredentialRefusal;

/** @param variable the environment variable that contains the issuers, or names their file */
export function issuerFinder(issuers: readonly TokenIssuer[], variable: string): FindIssuer {
  const templates = issuers.filter(({ tenants }) => tenants !== null);
  const exact = new Map(
    issuers.filter(({ tenants }) => tenants === null).map((rules) => [rules.issuer, rules]),
  );
  const [only] = issuers.length === 1 ? issuers : [];
  const expected =
    only === undefined ? `${variable} has no such issuer` : `${variable} is ${shownValue(only.issuer)}`;

  return ({ iss, tid }) => {
    if (issuers.length === 0) throw unavailable("auth", new Error("No identity provider is configured."));
    if (iss === undefined) return new CredentialRefusal("claim_missing", "The token has no claim iss.");
    const rules =
      typeof iss === "string"
        ? (exact.get(iss) ?? templates.find(({ issuer }) => isIssuerOf(issuer, { iss, tid })))
        : undefined;
    if (typeof iss !== "string" || rules === undefined) {
      const tenant = templates.length > 0 ? ` and its tid ${shownValue(tid)}` : "";
      return new CredentialRefusal(
        "issuer",
        `The token's iss is ${shownValue(iss)}${tenant}, but ${expected}.`,
      );
    }
    const { tenants } = rules;
    if (tenants === null || tenants === "any" || tenants.has(String(tid))) return { iss, rules };
    const detail = `The token's tid is ${shownValue(tid)}, which is not among the tenants of its issuer in ${variable}.`;
    return new CredentialRefusal("issuer", detail);
  };
}
