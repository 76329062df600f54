import { ApiError } from "@ostiary/lib/domain/errors";
import type { CompiledRoute } from "@ostiary/lib/domain/routes";
import type { Principal } from "../admission/principal.ts";

const EVERYTHING = "*";

/**
 * Step 5: a member needs one of the route's labels, or `*` (Gateway specification, Gateway admission). Users and
 * anonymous callers pass: labels constrain members only.
 *
 * @throws ApiError 403 that names the labels
 */
export function authorize(route: CompiledRoute, principal: Principal | null): void {
  const required = route.requiredLabels;
  if (required === null || principal === null || principal.labels === null) return;
  for (const label of principal.labels) {
    if (label === EVERYTHING || required.set.has(label)) return;
  }
  throw new ApiError("FORBIDDEN", {
    details: {
      permission: "required_labels",
      resource: "route",
      resource_id: route.path,
      required_labels: required.list,
    },
  });
}
