import type { Exchange } from "../exchange.ts";
import type { Authenticator } from "./authenticate.ts";
import { authorize } from "./authorize.ts";

/**
 * Checks the caller again once the body of a request is complete, if the caller's admission changed while the body
 * arrived. Returns null without a check. Rejects with the ApiError for the client if the caller is no longer admitted.
 */
export type Readmit = (exchange: Exchange) => Promise<void> | null;

/**
 * Returns the check. Without it, a caller could begin requests, hold back the last byte of each, and make changes after
 * a revocation, such as the one that takes the revocation back (GW-235).
 */
export function readmitWith(authenticator: Pick<Authenticator, "authenticate" | "isChanged">): Readmit {
  return ({ request, route, credential, principal, knownChanges }) => {
    const { scope } = route;
    if (scope === "public" || principal === null) return null;
    if (!authenticator.isChanged(principal, knownChanges)) return null;
    return (async () => authorize(route, await authenticator.authenticate(scope, request, credential)))();
  };
}
