import { ApiError, FIELD_ERRORS_MAX, validationError } from "@ostiary/lib/domain/errors";
import {
  conflictText,
  findPolicyConflicts,
  findRouteConflicts,
  type RouteConflict,
} from "@ostiary/lib/domain/routes";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { policyOf } from "../registry-sql.ts";
import { type Configs, otherOwners, otherPolicies } from "./publishing-sql.ts";

/**
 * Refuses configs that conflict with other services: 422 for policies, 409 for routes.
 *
 * @param pathPrefix returns the text that precedes `rate_limits` in the path of an error
 */
export async function refuseConflicts(
  orm: Orm,
  configs: Configs,
  pathPrefix: (service: string) => string = (service) => `services.${service}.`,
): Promise<void> {
  const declared = (await otherPolicies(orm, configs)).map(
    (row) => [row.service, { url: "", rate_limits: { [row.name]: policyOf(row) } }] as const,
  );
  const disagreements = findPolicyConflicts(configs, declared);
  if (disagreements.length > 0) {
    throw validationError(
      disagreements.map(({ service, name, message }) => ({
        path: `${pathPrefix(service)}rate_limits.${name}`,
        message,
      })),
    );
  }
  const conflicts = findRouteConflicts(configs, await otherOwners(orm, configs));
  if (conflicts.length > 0) throw routeConflict(conflicts);
}

function routeConflict(conflicts: readonly RouteConflict[]): ApiError {
  const shown = conflicts.slice(0, FIELD_ERRORS_MAX);
  const sentences = shown.map(conflictText);
  const more = conflicts.length - shown.length;
  return new ApiError("ROUTE_CONFLICT", {
    message: `${sentences.join("; ")}${more > 0 ? `; and ${more} more` : ""}. Nothing was written.`,
    details: { conflicts: shown },
  });
}
