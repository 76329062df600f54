import { ApiError } from "@ostiary/lib/domain/errors";
import { ClientGone } from "../upstream/call.ts";

const TOO_MANY_REQUESTS = 429;
const FORBIDDEN = 403;

/**
 * Returns the count of usage to which a refused or failed request is added (GW-187). Returns null if the client left,
 * or sent a body that is too large or too slow.
 *
 * @param status the status of the response, or null if the client left before the response
 */
export function refusedOrFailed(
  forwarded: boolean,
  status: number | null,
  failure: Error | null,
): "refused_limit" | "refused_labels" | "refused_other" | "failed" | null {
  if (status === null || failure instanceof ClientGone) return null;
  if (forwarded) return failure instanceof ApiError && failure.status < 500 ? null : "failed";
  if (status === TOO_MANY_REQUESTS) return "refused_limit";
  return status === FORBIDDEN ? "refused_labels" : "refused_other";
}
