import { ApiError, FIELD_ERRORS_MAX, validationError } from "@ostiary/lib/domain/errors";
import {
  findPolicyConflicts,
  findRouteConflicts,
  type RouteConflict,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { otherOwners, otherPolicies } from "./queries.ts";

/**
 * Refuses what collides with services that are not in `configs`: 422 for policies, 409 for routes.
 *
 * @param pathPrefix what stands in front of `rate_limits` in an error's path, by service
 */
export async function refuseConflicts(
  orm: Orm,
  configs: ReadonlyMap<string, StoredServiceConfig>,
  pathPrefix?: (service: string) => string,
): Promise<void> {
  const declared = (await otherPolicies(orm, configs)).map(
    ({ service, name, ...policy }) => [service, { url: "", rate_limits: { [name]: policy } }] as const,
  );
  const disagreements = findPolicyConflicts(configs, declared, pathPrefix);
  if (disagreements.length > 0) throw validationError(disagreements);
  const conflicts = findRouteConflicts(configs, await otherOwners(orm, configs));
  if (conflicts.length > 0) throw routeConflict(conflicts);
}

function routeConflict(conflicts: readonly RouteConflict[]): ApiError {
  const shown = conflicts.slice(0, FIELD_ERRORS_MAX);
  const sentences = shown.map(({ method, path, owner, owner_path }) => {
    const as = owner_path === path ? "" : ` as ${owner_path}`;
    return `${method} ${path} belongs to service ${owner}${as}`;
  });
  const more = conflicts.length - shown.length;
  return new ApiError("ROUTE_CONFLICT", {
    message: `${sentences.join("; ")}${more > 0 ? `; and ${more} more` : ""}. Nothing was written.`,
    details: { conflicts: shown },
  });
}
