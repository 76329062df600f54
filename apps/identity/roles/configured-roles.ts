import { RolesListing } from "@ostiary/lib/contracts/identity-api";
import { EVERY_LABEL } from "@ostiary/lib/domain/routes";
import type { RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { Type } from "@sinclair/typebox";

export { RolesListing };

/**
 * The roles of the deployment. Roles are off if no roles file is configured (ID-70): no member then has a role, and
 * every member may do everything.
 */
export interface Roles {
  /** The role of a person who creates an organization. */
  readonly creator: string | null;
  /** The default role of members and invites. */
  readonly forMembers: string | null;
  /** The default role of service accounts. */
  readonly forServiceAccounts: string | null;
  /** The slugs that can be assigned, sorted. Empty while roles are off. */
  readonly slugs: readonly string[];
  /**
   * Returns the labels that a stored role grants now. A slug that is no longer in the file grants nothing.
   */
  labelsOf(role: string | null): string[];
  /** Returns the role to show in responses: the stored role, or null while roles are off. */
  shown(role: string | null): string | null;
}

/** Creates the roles that `file` defines. Null turns roles off. */
export function createRoles(file: RolesFile | null): Roles {
  if (file === null) return rolesOff;
  const labels = file.roles;
  return {
    creator: file.creator_role,
    forMembers: file.default_role,
    forServiceAccounts: file.service_account_default_role ?? file.default_role,
    slugs: [...labels.keys()].sort(),
    labelsOf: (role) => [...((role === null ? undefined : labels.get(role)) ?? [])],
    shown: (role) => role,
  };
}

const rolesOff: Roles = Object.freeze({
  creator: null,
  forMembers: null,
  forServiceAccounts: null,
  slugs: [],
  labelsOf: () => [EVERY_LABEL],
  shown: () => null,
});

/** A pattern that matches no text in any dialect. */
const NOTHING = "^[^\\s\\S]$";

/**
 * Describes the optional `role` of a request body: one of the file's slugs. While roles are off, every value
 * is refused.
 */
export function roleField(roles: Roles, description: string) {
  if (roles.slugs.length === 0) {
    return Type.Optional(
      Type.String({
        pattern: NOTHING,
        description: "Roles are off: leave this field out.",
        rule: "must be left out, since this deployment has no roles",
      }),
    );
  }
  return Type.Optional(
    Type.String({
      description: `A slug of the roles file. ${description}`,
      enum: [...roles.slugs],
      pattern: `^(?:${roles.slugs.map((slug) => slug.replaceAll(".", "\\.")).join("|")})$`,
      rule: `must be one of ${roles.slugs.join(", ")}`,
    }),
  );
}

export function toRolesListing(roles: Roles): RolesListing {
  return {
    roles: roles.slugs.map((slug) => ({ slug, labels: roles.labelsOf(slug) })),
    creator_role: roles.creator,
    default_role: roles.forMembers,
    service_account_default_role: roles.forServiceAccounts,
  };
}
