import { ApiError } from "@ostiary/lib/domain/errors";
import { type RouteMatch, type SubjectIds, upstreamPath } from "@ostiary/lib/domain/routes";
import type { Principal } from "../admission/principal.ts";
import type { RequestTarget } from "../edge/target.ts";

/** The ids of the owner of a public route, which has no owner. */
const NOBODY: SubjectIds = {};

/**
 * Step 6: returns the path and query for the service, with the owner's ids in the path (GW-80).
 *
 * @throws ApiError 400 for a param, 500 for an owner's id that is not one path segment
 */
export function rewrite(match: RouteMatch, target: RequestTarget, principal: Principal | null): string {
  const filled = upstreamPath(match, target.path, principal ?? NOBODY);
  if ("path" in filled) return filled.path + target.query;
  if (filled.error === "path_param") {
    throw new ApiError("INVALID_REQUEST", { message: "A path parameter must be one path segment." });
  }
  throw new ApiError("INTERNAL_ERROR", { cause: new Error("The subject's id is not one path segment.") });
}
