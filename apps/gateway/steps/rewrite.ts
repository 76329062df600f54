import { ApiError } from "@ostiary/lib/domain/errors";
import { type RouteMatch, type SubjectIds, upstreamPath } from "@ostiary/lib/domain/routes";
import type { Principal } from "../admission/principal.ts";
import type { RequestTarget } from "../edge/request-target.ts";

const NOBODY: SubjectIds = {};

/**
 * Step 6: returns the path and query for the service, with the owner's ids in the path (GW-80).
 *
 * @throws ApiError 400 if a param is not one path segment, 500 if an owner's id is not one segment
 */
export function rewrite(match: RouteMatch, target: RequestTarget, principal: Principal | null): string {
  const filled = upstreamPath(match, target.path, principal ?? NOBODY);
  if ("path" in filled) return filled.path + target.query;
  if (filled.error === "path_param") {
    throw new ApiError("INVALID_REQUEST", { message: "A path parameter must be one path segment." });
  }
  throw new ApiError("INTERNAL_ERROR", { cause: new Error("The subject's id is not one path segment.") });
}
