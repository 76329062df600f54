import { type Static, Type } from "@sinclair/typebox";

/** The settings for sign-in that a service delivers to its page, without secrets. */
export const SignInSettings = Type.Object({
  issuer: Type.String(),
  client_id: Type.String(),
  scopes: Type.String(),
  /** The audience to request, or null if the identity provider needs no audience. */
  audience: Type.Union([Type.String(), Type.Null()]),
});
export type SignInSettings = Static<typeof SignInSettings>;

/** Returns the redirect path for sign-in. The identity provider must allow this path on the page's origin. */
export function signInReturnPath(pagePath: string): string {
  return `${pagePath}/signed-in`;
}
