import { type Static, Type } from "@sinclair/typebox";
import type { CredentialKind, ParsedCredential } from "./credential-string.ts";

/** The realm that a credential belongs to: the directory, or one organization. */
export type Realm = "directory" | "organization";

/** The kind of credential of a caller, in logs and audit events. */
export const AuthType = Type.Union(
  [
    Type.Literal("jwt"),
    Type.Literal("user_apikey"),
    Type.Literal("member_apikey"),
    Type.Literal("member_session"),
  ],
  { title: "Auth type", description: "The kind of credential with which the caller authenticated." },
);
export type AuthType = Static<typeof AuthType>;
type CredentialAuthType = Exclude<AuthType, "jwt">;

const AUTH_TYPES: Readonly<Record<CredentialKind, Readonly<Record<Realm, CredentialAuthType | null>>>> = {
  k: { directory: "user_apikey", organization: "member_apikey" },
  s: { directory: null, organization: "member_session" },
  sk: { directory: "user_apikey", organization: null },
  mk: { directory: null, organization: "member_apikey" },
  ms: { directory: null, organization: "member_session" },
};

/**
 * Returns the auth type of a credential that was found in `realm`. Returns null for an impossible
 * combination, such as a session in the directory (GW-33, GW-41).
 */
export function authTypeOf(
  credential: Pick<ParsedCredential, "kind">,
  realm: Realm,
): CredentialAuthType | null {
  return AUTH_TYPES[credential.kind][realm];
}
