import { type Static, Type } from "@sinclair/typebox";

/** The settings for a sign-in at an identity provider. A process hands them to its page. They hold no secret. */
export const SignInSettings = Type.Object({
  issuer: Type.String(),
  client_id: Type.String(),
  /** The scopes, separated by spaces. */
  scopes: Type.String(),
  /** The audience to ask for, or null for a provider that needs none. */
  audience: Type.Union([Type.String(), Type.Null()]),
});
export type SignInSettings = Static<typeof SignInSettings>;

/** Returns the path to which the provider sends people back. The provider must know origin and path. */
export function signInReturnPath(page_path: string): string {
  return `${page_path}/signed-in`;
}
