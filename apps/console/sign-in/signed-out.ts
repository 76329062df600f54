import type { TokenSource } from "@ostiary/lib/contracts/registry-api";
import type { ProviderSession, SignInFailure } from "@ostiary/lib/page";
import { Failure } from "../registry/failure.ts";

/** The reason why the page asks for a sign-in. */
export interface SignedOut {
  readonly text: string;
  /** The reason that the identity provider gave. It is shown as text, never as markup. */
  readonly detail?: string;
  /** Whether something failed, so that the page shows an error. */
  readonly failed?: boolean;
  /** Whether the identity provider signed in an account that is not an operator. */
  readonly isUnknownAccount?: boolean;
}

export const SIGNED_OUT: SignedOut = { text: "You are signed out." };
export const SIGN_IN_ENDED: SignedOut = { text: "Your sign-in has ended. Sign in again to continue." };
export const TOKEN_REFUSED: SignedOut = {
  text: "The registry no longer accepts the token. Enter a valid token.",
};

/** Returns the reason to show for a sign-in that failed at the identity provider. */
export function signInFailed({ kind, message }: SignInFailure): SignedOut {
  switch (kind) {
    case "needed":
      return SIGN_IN_ENDED;
    case "refused":
      return { text: "The identity provider refused the sign-in.", detail: message, failed: true };
    case "unsafe":
      return {
        text: "This sign-in was not completed, because it did not start in this window. Sign in again.",
        failed: true,
      };
    case "away":
      return {
        text: "The identity provider does not answer, or does not allow calls from this page. Try again in a moment.",
        failed: true,
      };
  }
}

/** Returns the reason to show if the identity provider signed in a person, but calls to the registry fail. */
export function registryRefused({ kind, message }: Failure): SignedOut {
  if (kind !== "refused") return { text: message, failed: true };
  return {
    text: "Your account is not an operator of this registry. Ask an admin of the registry, or choose another account.",
    failed: true,
    isUnknownAccount: true,
  };
}

/** Returns the token source for a registry client: it supplies the identity provider's access token. */
export function tokensOf(provider: ProviderSession): TokenSource {
  return async (refused) => {
    const found = await provider.currentToken(refused);
    if (found.ok) return found.token;
    if (found.reason === "away")
      throw new Failure("provider", "The identity provider does not answer. Try again in a moment.");
    throw new Failure("refused", "The sign-in has ended.");
  };
}
