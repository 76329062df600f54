import { systemClock } from "@ostiary/lib/async";
import type { Exchange } from "../exchange.ts";
import type { Authenticator } from "./authenticate.ts";
import { authorize } from "./authorize.ts";

/** A request whose body is complete within this time needs no second check. */
const BODY_MS = 1_000;

/**
 * Checks the caller again once the body of a request is complete. Returns null without a check if the body came fast.
 * Rejects with the ApiError for the client if the caller is no longer admitted.
 */
export type Readmit = (exchange: Exchange) => Promise<void> | null;

/**
 * Returns the check. Without it, a caller could begin requests, hold back the last byte of each, and make changes after
 * a revocation, such as the one that takes the revocation back (GW-235).
 */
export function readmitWith(authenticator: Pick<Authenticator, "authenticate">): Readmit {
  return (exchange) => {
    const { request, route, credential, started } = exchange;
    const { scope } = route;
    if (scope === "public" || systemClock.elapsedMs() - started < BODY_MS) return null;
    return (async () => authorize(route, await authenticator.authenticate(scope, request, credential)))();
  };
}
