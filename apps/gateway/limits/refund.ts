import type { Exchange } from "../exchange.ts";

const FORBIDDEN = 403;

/**
 * Returns whether a request gets back what its limits charged: after a 5xx, and when it did not reach its service
 * (GW-185). A 403 counts (GW-3). So does a handshake that the service served as a plain request, because every client
 * can send one.
 *
 * @param status the status of the response, or null if the client left before the response
 */
export function isRefunded(
  { reachedService, servedPlain }: Pick<Exchange, "reachedService" | "servedPlain">,
  status: number | null,
): boolean {
  if (servedPlain) return false;
  if (status !== null && status >= 500) return true;
  return !reachedService && status !== FORBIDDEN;
}
