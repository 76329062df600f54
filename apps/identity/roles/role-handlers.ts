import { response } from "@ostiary/lib/runtime/http";
import type { Dependencies } from "../dependencies.ts";
import { handlersAt } from "../identity-handlers.ts";
import { requireOrganization } from "../organizations/organization-sql.ts";
import { RolesListing, toRolesListing } from "./configured-roles.ts";

/** Returns the route that lists the roles (ID-75). */
export function rolesHandlers({ database, roles }: Dependencies) {
  const listing = toRolesListing(roles);
  return handlersAt("/organizations/:organization_id/roles", "organization_id").get(
    "",
    async ({ params }) => {
      await database.run("select_organization", (orm) => requireOrganization(orm, params.organization_id));
      return listing;
    },
    {
      response: { 200: response(RolesListing, "The roles.") },
      detail: {
        operationId: "listRoles",
        summary: "List the roles",
        description: "The roles file of the deployment: the same for every organization, in one page.",
        tags: ["Roles"],
      },
    },
  );
}
