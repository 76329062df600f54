import { type Static, Type } from "@sinclair/typebox";
import type { CredentialKind, ParsedCredential } from "./credential.ts";

/** Where the membership lives that a credential belongs to. */
export type Realm = "directory" | "organization";

/** How a caller proved who it is, as logs and audit events name it. */
export const AuthType = Type.Union(
  [
    Type.Literal("jwt"),
    Type.Literal("user_apikey"),
    Type.Literal("member_apikey"),
    Type.Literal("member_session"),
  ],
  { title: "Auth type", description: "How the caller proved who it is." },
);
export type AuthType = Static<typeof AuthType>;
export type CredentialAuthType = Exclude<AuthType, "jwt">;

const AUTH_TYPES: Readonly<Record<CredentialKind, Readonly<Record<Realm, CredentialAuthType | null>>>> = {
  k: { directory: "user_apikey", organization: "member_apikey" },
  s: { directory: null, organization: "member_session" },
  sk: { directory: "user_apikey", organization: null },
  mk: { directory: null, organization: "member_apikey" },
  ms: { directory: null, organization: "member_session" },
};

/**
 * The auth type of a credential that was found in `realm`; null for a pair that can not be, such as a session
 * of the directory (contract 4, Admission).
 */
export function authTypeOf(
  credential: Pick<ParsedCredential, "kind">,
  realm: Realm,
): CredentialAuthType | null {
  return AUTH_TYPES[credential.kind][realm];
}
