import type { TokenSource } from "@ostiary/lib/contracts/registry-api";
import type { ProviderSession } from "@ostiary/lib/page";
import { FailedCall } from "../registry/client.ts";

/** The code of the failure when the identity provider does not answer, so that there is no token. */
export const PROVIDER_AWAY = "PROVIDER_AWAY";

/** Returns the token source for a registry client: it supplies the identity provider's access token. */
export function tokensOf(provider: ProviderSession): TokenSource {
  return async (refused) => {
    const found = await provider.currentToken(refused);
    if (found.ok) return found.token;
    if (found.reason === "over") throw new FailedCall("signed_out", { message: "The sign-in has ended." });
    const message = "The identity provider does not answer. Try again in a moment.";
    throw new FailedCall("away", { code: PROVIDER_AWAY, message });
  };
}
