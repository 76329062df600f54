import { ApiError } from "@ostiary/lib/domain/errors";
import { type CompiledRoute, labelsSuffice } from "@ostiary/lib/domain/routes";
import type { Principal } from "../admission/principal.ts";

/**
 * Step 5: checks that a member has one of the route's labels, or `*` (GW-76).
 *
 * @throws ApiError 403 that names the required labels
 */
export function authorize(route: CompiledRoute, principal: Principal | null): void {
  const required = route.required_labels;
  if (required === null || principal === null || labelsSuffice(required, principal.labels)) return;
  throw new ApiError("FORBIDDEN", {
    details: {
      permission: "required_labels",
      resource: "route",
      resource_id: route.path,
      required_labels: required.list,
    },
  });
}
