import { EVERY_LABEL } from "@ostiary/lib/domain/routes";
import type { RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { type Static, Type } from "@sinclair/typebox";
import { nullable, shapeOf } from "../fields.ts";

/** The deployment's roles, on or off (Identity specification, Roles file). */
export interface Roles {
  /** Null while roles are off: then no member has a role and every member may do everything. */
  readonly file: RolesFile | null;
  /** For whoever creates an organization. */
  readonly creator: string | null;
  /** For a member or invite that is written without a role. */
  readonly forMembers: string | null;
  /** For a service account that is written without a role. */
  readonly forServiceAccounts: string | null;
  /** The slugs that may be assigned, sorted. */
  readonly slugs: readonly string[];
  /** What a stored role grants now. A slug that the file no longer holds grants nothing. */
  labelsOf(role: string | null): string[];
  /** A stored role as answers show it. */
  shown(role: string | null): string | null;
}

/** Roles as `file` defines them; null turns them off. */
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

/** Matches no text in any dialect. */
const NOTHING = "^[^\\s\\S]$";

/** The optional `role` of a request body: one of the file's slugs; while roles are off no value will do. */
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

/** The roles of the deployment (Identity specification, Roles listing). */
export const RolesListing = Type.Object(
  {
    roles: Type.Array(
      Type.Object(
        {
          slug: Type.String({ description: "The role's name.", examples: ["admin"] }),
          labels: Type.Array(Type.String({ description: "A label.", examples: ["org:write"] }), {
            description: "What the role grants; `*` alone grants every label.",
            examples: [["org:write", "org:members:write"]],
          }),
        },
        shapeOf("Role", "A role of the roles file."),
      ),
      { description: "Sorted by slug." },
    ),
    creator_role: slug("Given to whoever creates an organization."),
    default_role: slug("Given where a write names no role."),
    service_account_default_role: slug("Given to a service account where the write names no role."),
  },
  shapeOf("Roles", "The roles of this deployment."),
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
