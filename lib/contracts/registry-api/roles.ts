import { type Static, Type } from "@sinclair/typebox";

const Role = Type.Object(
  {
    slug: Type.String({
      pattern: "^[a-z0-9:._-]{1,64}$",
      description: "The name of the role.",
      examples: ["admin"],
    }),
    labels: Type.Array(Type.String({ pattern: "^(\\*|[a-z0-9:._-]{1,64})$", examples: ["widgets:write"] }), {
      description: "The labels that the role grants; `*` grants everything.",
      examples: [["widgets:write"]],
    }),
  },
  { title: "Role", description: "A role that members may have." },
);

/** The roles that a lookup can name (RG-106). */
export const Roles = Type.Object(
  {
    roles: Type.Array(Role, {
      description:
        "The roles in the order of their slugs. The list is empty if the registry has no ROLES_FILE.",
    }),
  },
  { title: "RoleList", description: "The roles of the registry's ROLES_FILE." },
);
export type Roles = Static<typeof Roles>;
