import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { answer, errors } from "../answers.ts";
import type { Directory } from "../directory.ts";
import { noQuery, nullable, pathIds, shapeOf } from "../fields.ts";
import { existingId } from "../ids.ts";
import { requireOrganization } from "../organizations/queries.ts";
import type { Roles } from "./roles.ts";

const slug = (description: string) =>
  nullable(Type.String({ description: `${description} Null while roles are off.`, examples: ["owner"] }));

const RolesListing = Type.Object(
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

/** The roles listing (Identity specification, Roles listing). */
export function rolesRoutes({ database, roles }: Pick<Directory, "database" | "roles">) {
  const listing = rolesListing(roles);
  return new Elysia({ name: "roles", normalize: false }).get(
    "/organizations/:organization_id/roles",
    async ({ params }) => {
      const id = existingId("organization", params.organization_id);
      await database.run("select_organization", (orm) => requireOrganization(orm, id));
      return listing;
    },
    {
      params: pathIds("organization_id"),
      query: noQuery,
      response: { 200: answer(RolesListing, "The roles."), ...errors("NOT_FOUND") },
      detail: {
        summary: "List the roles",
        description: "The roles file of the deployment: the same for every organization, in one page.",
        operationId: "listRoles",
        tags: ["Roles"],
      },
    },
  );
}

function rolesListing(roles: Roles) {
  return {
    roles: roles.slugs.map((slug) => ({ slug, labels: roles.labelsOf(slug) })),
    creator_role: roles.creator,
    default_role: roles.forMembers,
    service_account_default_role: roles.forServiceAccounts,
  };
}
