import { ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import {
  answer,
  bodyErrors,
  emptyAnswer,
  errors,
  listQuery,
  noQuery,
  page,
  pageRequest,
  pageSchema,
  setAuditNote,
} from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import type { Dependencies } from "../dependencies.ts";
import { trimmed } from "../fields.ts";
import { pathIds, refuseMalformedIds } from "../path-ids.ts";
import { changePlan, createOrganization, deleteOrganization, renameOrganization } from "./commands.ts";
import { operations } from "./operation-texts.ts";
import {
  ChangePlanBody,
  CreateOrganizationBody,
  CreateOrganizationForPersonBody,
  Organization,
  toOrganization,
  UpdateOrganizationBody,
} from "./organization.ts";
import { listOrganizations, requireOrganization } from "./sql.ts";

const tooMany = {
  code: "CONFLICT",
  message: "A person may create 50 organizations: delete one first.",
  details: { field: "organizations", value: "50" },
} as const;

/** Returns the routes of organizations (ID-23). */
export function organizationsHandlers(deps: Dependencies) {
  const { database } = deps;
  return new Elysia({ name: "organizations", normalize: false })
    .use(refuseMalformedIds)
    .get(
      "/organizations",
      async ({ query }) => {
        const request = pageRequest(query);
        const rows = await database.run("list_organizations", (orm) => listOrganizations(orm, request));
        const { items, has_more } = page(rows, request.limit);
        return { organizations: items.map(toOrganization), has_more };
      },
      {
        query: listQuery,
        response: { 200: answer(pageSchema("organizations", Organization), "A page."), ...errors() },
        detail: operations.listOrganizations,
      },
    )
    .post(
      "/organizations",
      async ({ body: { name, user_id }, status, set }) => {
        const asked = { name: trimmed(name), user_id, by: "staff" } as const;
        const { organization, member_id } = await createOrganization(deps, asked);
        const { id } = organization;
        setAuditNote(set, { created: id, details: { name: organization.name, user_id, member_id } });
        return status(201, toOrganization(organization));
      },
      {
        query: noQuery,
        body: CreateOrganizationForPersonBody,
        response: {
          201: answer(Organization, "The organization.", "created", "details"),
          ...bodyErrors({ code: "NOT_FOUND", details: { resource: "user", id: ULID_EXAMPLE } }),
        },
        detail: operations.createOrganizationForPerson,
      },
    )
    .use(personHandlers(deps))
    .use(organizationHandlers(deps));
}

/** Returns the route by which a person creates an organization. */
function personHandlers(deps: Dependencies) {
  return new Elysia({ name: "person-organizations", normalize: false }).use(refuseMalformedIds).post(
    "/users/:user_id/organizations",
    async ({ params, body, status, set }) => {
      const { user_id } = params;
      const asked = { name: trimmed(body.name), user_id, by: "person" } as const;
      const { organization, member_id } = await createOrganization(deps, asked);
      const { id } = organization;
      setAuditNote(set, { created: id, organization: { organization_id: id, member_id } });
      return status(201, toOrganization(organization));
    },
    {
      params: pathIds("user_id"),
      query: noQuery,
      body: CreateOrganizationBody,
      response: {
        201: answer(Organization, "The organization.", "created", "organization"),
        ...bodyErrors("NOT_FOUND", tooMany),
      },
      detail: operations.createOrganization,
    },
  );
}

/** Returns the routes of one organization. */
function organizationHandlers(deps: Dependencies) {
  const { database } = deps;
  return new Elysia({ name: "organization", normalize: false, prefix: "/organizations/:organization_id" })
    .use(refuseMalformedIds)
    .guard({ params: pathIds("organization_id"), query: noQuery, response: errors("NOT_FOUND") })
    .get(
      "",
      async ({ params: { organization_id } }) =>
        toOrganization(
          await database.run("select_organization", (orm) => requireOrganization(orm, organization_id)),
        ),
      { response: { 200: answer(Organization, "The organization.") }, detail: operations.getOrganization },
    )
    .patch(
      "",
      async ({ params, body, set }) => {
        const name = trimmed(body.name);
        return changed(set, await renameOrganization(deps, params.organization_id, name));
      },
      {
        body: UpdateOrganizationBody,
        response: { 200: answer(Organization, "The renamed organization.", "details"), ...bodyErrors() },
        detail: operations.updateOrganization,
      },
    )
    .patch(
      "/plan",
      async ({ params, body: { plan }, set }) =>
        changed(set, await changePlan(deps, params.organization_id, plan)),
      {
        body: ChangePlanBody,
        response: {
          200: answer(Organization, "The organization with its plan.", "details"),
          ...bodyErrors(),
        },
        detail: operations.changePlan,
      },
    )
    .delete(
      "",
      async ({ params, status }) => {
        await deleteOrganization(deps, params.organization_id);
        return status(204, undefined);
      },
      { response: { 204: emptyAnswer("Deleted.") }, detail: operations.deleteOrganization },
    );
}

/** Notes the details of a change for its audit event, and returns the organization. */
function changed(
  set: Parameters<typeof setAuditNote>[0],
  { organization, details }: Awaited<ReturnType<typeof renameOrganization>>,
): Organization {
  setAuditNote(set, { details });
  return toOrganization(organization);
}
