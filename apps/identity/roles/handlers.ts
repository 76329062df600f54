import { answer, errors, noQuery } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import type { Dependencies } from "../dependencies.ts";
import { requireOrganization } from "../organizations/sql.ts";
import { pathIds, refuseMalformedIds } from "../path-ids.ts";
import { operations } from "./operation-texts.ts";
import { RolesListing, toRolesListing } from "./roles.ts";

/** Returns the route that lists the roles (ID-75). */
export function rolesHandlers({ database, roles }: Dependencies) {
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
      detail: operations.listRoles,
    },
  );
}
