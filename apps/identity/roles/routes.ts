import { noQuery } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { answer, errors } from "../answers.ts";
import type { Dependencies } from "../dependencies.ts";
import { requireOrganization } from "../organizations/queries.ts";
import { pathIds, refuseMalformedIds } from "../path-ids.ts";
import { RolesListing, toRolesListing } from "./roles.ts";

/** The roles listing (Identity specification, Roles listing). */
export function rolesRoutes({ database, roles }: Dependencies) {
  const listing = toRolesListing(roles);
  return new Elysia({ name: "roles", normalize: false }).use(refuseMalformedIds).get(
    "/organizations/:organization_id/roles",
    async ({ params }) => {
      await database.run("select_organization", (orm) => requireOrganization(orm, params.organization_id));
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
