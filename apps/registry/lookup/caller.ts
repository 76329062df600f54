import type { Lookup } from "@ostiary/lib/contracts/registry-api";
import { validationError } from "@ostiary/lib/domain/errors";
import { type CompiledRoute, labelsSuffice } from "@ostiary/lib/domain/routes";
import type { RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { Type } from "@sinclair/typebox";

const LABEL = "(\\*|[a-z0-9:._-]{1,64})";
/** As many as a role may have. */
const LABELS_MAX = 64;

/** Parameters of the look-up that name a caller; see {@link callerLabels}. */
export const callerParameters = {
  role: Type.Optional(
    Type.String({
      description:
        "Tell whether a member with this role may use the route. A slug of ROLES_FILE; not beside labels.",
      openapi: { minLength: 1, examples: ["admin"] },
    }),
  ),
  labels: Type.Optional(
    Type.String({
      pattern: `^${LABEL}(,${LABEL}){0,${LABELS_MAX - 1}}$`,
      description:
        "Tell whether a member with these labels, separated by commas, may use the route. Not beside role.",
      rule: `must be 1 to ${LABELS_MAX} labels separated by commas, each of a-z, 0-9, colon, dot, underscore and hyphen, or *`,
    }),
  ),
};

/**
 * The labels of the member that a look-up asks for; null when it asks for none.
 *
 * @throws ApiError 422 for a role that is not in `roles`, and for a role beside labels
 */
export function callerLabels(
  { role, labels }: { role?: string; labels?: string },
  roles: RolesFile | null,
): readonly string[] | null {
  if (role !== undefined && labels !== undefined) {
    throw validationError([{ path: "labels", message: "Give role or labels, not both." }]);
  }
  if (labels !== undefined) return [...new Set(labels.split(","))];
  return role === undefined ? null : labelsOf(role, roles);
}

function labelsOf(role: string, roles: RolesFile | null): readonly string[] {
  if (roles === null) throw wrongRole("This registry knows no roles: set its ROLES_FILE, or give labels.");
  const labels = roles.roles.get(role);
  if (labels !== undefined) return labels;
  throw wrongRole(`role must be one of ${[...roles.roles.keys()].sort().join(", ")}.`);
}

function wrongRole(message: string) {
  return validationError([{ path: "role", message }]);
}

/** Whether a member with these labels may use the route, decided as the gateway decides it, and by which labels. */
export function decisionOn(
  { scope, requiredLabels }: CompiledRoute,
  labels: readonly string[],
): Required<Pick<Lookup, "allowed" | "decided_by">> {
  // whoever calls a public or a user route shows no labels there
  const isOfMembers = scope === "organization" || scope === "member";
  if (requiredLabels === null || !isOfMembers) return { allowed: true, decided_by: [] };
  const allowed = labelsSuffice(requiredLabels, labels);
  const decisive = allowed
    ? labels.filter((label) => labelsSuffice(requiredLabels, [label]))
    : requiredLabels.list;
  return { allowed, decided_by: [...decisive] };
}
