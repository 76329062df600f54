import { EVERY_LABEL } from "@ostiary/lib/domain/routes";
import type { RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { type Static, Type } from "@sinclair/typebox";
import { nullable, shapeOf } from "../fields.ts";

/** The roles of the deployment, on or off (ID-70). */
export interface Roles {
  /**
   * The roles file, or null while roles are off. Then no member has a role and every member may do
   * everything.
   */
  readonly file: RolesFile | null;
  /** The role of a person who creates an organization. */
  readonly creator: string | null;
  /** The default role of members and invites. */
  readonly forMembers: string | null;
  /** The default role of service accounts. */
  readonly forServiceAccounts: string | null;
  /** The slugs that can be assigned, sorted. */
  readonly slugs: readonly string[];
  /**
   * Returns the labels that a stored role grants now. A slug that the file no longer holds grants nothing.
   */
  labelsOf(role: string | null): string[];
  /** Returns a stored role as responses show it. */
  shown(role: string | null): string | null;
}

/** Creates the roles that `file` defines. Null turns roles off. */
export function createRoles(file: RolesFile | null): Roles {
  if (file === null) return rolesOff;
  const labels = file.roles;
  return {
    file,
    creator: file.creator_role,
    forMembers: file.default_role,
    forServiceAccounts: file.service_account_default_role ?? file.default_role,
    slugs: [...labels.keys()].sort(),
    labelsOf: (role) => [...((role === null ? undefined : labels.get(role)) ?? [])],
    shown: (role) => role,
  };
}

const rolesOff: Roles = Object.freeze({
  file: null,
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
  if (roles.file === null) {
    return Type.Optional(
      Type.String({
        pattern: NOTHING,
        description: "Roles are off: leave it out.",
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

const slug = (description: string) =>
  nullable(Type.String({ description: `${description} Null while roles are off.`, examples: ["owner"] }));

/** The roles of the deployment (ID-75). */
export const RolesListing = Type.Object(
  {
    roles: Type.Array(
      Type.Object(
        {
          slug: Type.String({ description: "The role's name.", examples: ["admin"] }),
          labels: Type.Array(Type.String({ description: "A label.", examples: ["org:write"] }), {
            description: "The labels that the role grants; `*` alone grants every label.",
            examples: [["org:write", "org:members:write"]],
          }),
        },
        shapeOf("Role", "A role of the roles file."),
      ),
      { description: "Sorted by slug." },
    ),
    creator_role: slug("The role of a person who creates an organization."),
    default_role: slug("The role of a new member if the write names none."),
    service_account_default_role: slug("The role of a new service account if the write names none."),
  },
  shapeOf("Role list", "The roles of this deployment."),
);
export type RolesListing = Static<typeof RolesListing>;

export function toRolesListing(roles: Roles): RolesListing {
  return {
    roles: roles.slugs.map((slug) => ({ slug, labels: roles.labelsOf(slug) })),
    creator_role: roles.creator,
    default_role: roles.forMembers,
    service_account_default_role: roles.forServiceAccounts,
  };
}
