import type { Lookup } from "@ostiary/lib/contracts/registry-api";
import { validationError } from "@ostiary/lib/domain/errors";
import { type CompiledRoute, isOfMembers, labelsSuffice } from "@ostiary/lib/domain/routes";
import type { RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { Type } from "@sinclair/typebox";

const LABEL = "(\\*|[a-z0-9:._-]+)";
const LABEL_LENGTH_MAX = 64;
/** The maximum number of labels, as in a role. */
const LABELS_MAX = 64;
const LABELS_RULE = `must be 1 to ${LABELS_MAX} labels separated by commas, each of at most ${LABEL_LENGTH_MAX} characters of a-z, 0-9, colon, dot, underscore and hyphen, or *`;

/** The parameters of a lookup that describe a caller; see {@link callerLabels}. */
export const callerParameters = {
  role: Type.Optional(
    Type.String({
      description:
        "A slug of ROLES_FILE: the response tells whether a member with this role may use the route. Set role or labels, not both.",
      openapi: { pattern: "^[a-z0-9:._-]{1,64}$", examples: ["admin"] },
    }),
  ),
  labels: Type.Optional(
    Type.String({
      pattern: `^${LABEL}(,${LABEL})*$`,
      description:
        "Labels, separated by commas: the response tells whether a member with these labels may use the route. Set role or labels, not both.",
      rule: LABELS_RULE,
    }),
  ),
};

/**
 * Returns the labels of the caller in a lookup: `labels`, or the labels of `role`. Returns null if both are absent.
 *
 * @throws ApiError 422 if the role is not in `roles`, or if both `role` and `labels` are set
 */
export function callerLabels(
  { role, labels }: { role?: string; labels?: string },
  roles: RolesFile | null,
): readonly string[] | null {
  if (role !== undefined && labels !== undefined) {
    throw validationError([{ path: "labels", message: "Set role or labels, not both." }]);
  }
  if (labels !== undefined) return readLabels(labels);
  return role === undefined ? null : labelsOf(role, roles);
}

function readLabels(list: string): string[] {
  const labels = list.split(",");
  if (labels.length > LABELS_MAX || labels.some(({ length }) => length > LABEL_LENGTH_MAX)) {
    throw validationError([{ path: "labels", message: `labels ${LABELS_RULE}.` }]);
  }
  return [...new Set(labels)];
}

function labelsOf(role: string, roles: RolesFile | null): readonly string[] {
  if (roles === null)
    throw wrongRole("This registry has no roles: set its ROLES_FILE, or set labels instead.");
  const labels = roles.roles.get(role);
  if (labels !== undefined) return labels;
  throw wrongRole(`role must be one of ${[...roles.roles.keys()].sort().join(", ")}.`);
}

function wrongRole(message: string) {
  return validationError([{ path: "role", message }]);
}

/**
 * Decides as the gateway does whether a member with these labels may use the route, and names the decisive
 * labels.
 */
export function decisionOn(
  route: CompiledRoute,
  labels: readonly string[],
): Required<Pick<Lookup, "allowed" | "decided_by">> {
  const { required_labels } = route;
  if (required_labels === null || !isOfMembers(route)) return { allowed: true, decided_by: [] };
  const allowed = labelsSuffice(required_labels, labels);
  const decisive = allowed
    ? labels.filter((label) => labelsSuffice(required_labels, [label]))
    : required_labels.list;
  return { allowed, decided_by: [...decisive] };
}
