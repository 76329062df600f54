import { ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { describeOperations } from "@ostiary/lib/openapi";
import {
  bodyErrors,
  emptyResponse,
  errors,
  listQuery,
  noQuery,
  response,
  setAuditNote,
} from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import type { Dependencies } from "../dependencies.ts";
import { trimmed } from "../fields.ts";
import { handlersAt, noteChange, pageResponse, readPage } from "../identity-handlers.ts";
import {
  ChangePlanBody,
  CreateOrganizationBody,
  CreateOrganizationForPersonBody,
  Organization,
  toOrganization,
  UpdateOrganizationBody,
} from "./organization.ts";
import { changeOrganization, createOrganization, deleteOrganization } from "./organization-commands.ts";
import { listOrganizations, requireOrganization } from "./organization-sql.ts";

const operations = describeOperations(
  {
    listOrganizations: [
      "List all organizations",
      "Lists every organization of the deployment, oldest first. Only the staff catalog publishes this operation.",
    ],
    createOrganizationForPerson: [
      "Create an organization for a person",
      "Only the staff catalog publishes this operation. The person becomes the first member of the organization with the roles file's creator_role. The organization does not count towards the person's limit.",
    ],
    createOrganization: [
      "Create an organization",
      "The person becomes the first member with the roles file's creator_role. 409 with field `organizations` for a person who has reached the limit.",
    ],
    getOrganization: ["Read an organization", "The organization's name, plan and times."],
    updateOrganization: ["Rename an organization", "Two organizations may have the same name."],
    changePlan: [
      "Change an organization's plan",
      "Only the staff catalog publishes this operation. Limits of routes follow the plan as soon as gateways validate a credential again.",
    ],
    deleteOrganization: [
      "Delete an organization",
      "A deletion is final. It includes the organization's members, service accounts, invites and keys.",
    ],
  },
  ["Organizations"],
);

const tooMany = {
  code: "CONFLICT",
  message: "The person has created 50 organizations, the maximum: delete one first.",
  details: { field: "organizations", value: "50" },
} as const;

/** Returns the routes of organizations (ID-23). */
export function organizationsHandlers(deps: Dependencies) {
  const { database } = deps;
  return new Elysia({ name: "organizations", normalize: false })
    .get(
      "/organizations",
      async ({ query }) => {
        const { items, has_more } = await readPage(database, "list_organizations", query, listOrganizations);
        return { organizations: items.map(toOrganization), has_more };
      },
      {
        query: listQuery,
        response: { 200: pageResponse("organizations", Organization), ...errors() },
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
          201: response(Organization, "The organization.", "created", "details"),
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
  return handlersAt("/users/:user_id/organizations", "user_id").post(
    "",
    async ({ params, body, status, set }) => {
      const { user_id } = params;
      const asked = { name: trimmed(body.name), user_id, by: "person" } as const;
      const { organization, member_id } = await createOrganization(deps, asked);
      const { id } = organization;
      setAuditNote(set, { created: id, organization: { organization_id: id, member_id } });
      return status(201, toOrganization(organization));
    },
    {
      body: CreateOrganizationBody,
      response: {
        201: response(Organization, "The organization.", "created", "organization"),
        ...bodyErrors(tooMany),
      },
      detail: operations.createOrganization,
    },
  );
}

/** Returns the routes of one organization. */
function organizationHandlers(deps: Dependencies) {
  const { database } = deps;
  return handlersAt("/organizations/:organization_id", "organization_id")
    .get(
      "",
      async ({ params: { organization_id } }) =>
        toOrganization(
          await database.run("select_organization", (orm) => requireOrganization(orm, organization_id)),
        ),
      { response: { 200: response(Organization, "The organization.") }, detail: operations.getOrganization },
    )
    .patch(
      "",
      async ({ params, body, set }) => {
        const change = { name: trimmed(body.name) };
        const renamed = await changeOrganization(deps, "rename_organization", params.organization_id, change);
        return toOrganization(noteChange(set, renamed));
      },
      {
        body: UpdateOrganizationBody,
        response: { 200: response(Organization, "The renamed organization.", "details"), ...bodyErrors() },
        detail: operations.updateOrganization,
      },
    )
    .patch(
      "/plan",
      async ({ params, body, set }) => {
        const changed = await changeOrganization(deps, "change_plan", params.organization_id, body);
        return toOrganization(noteChange(set, changed));
      },
      {
        body: ChangePlanBody,
        response: {
          200: response(Organization, "The organization with its plan.", "details"),
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
      { response: { 204: emptyResponse("Deleted.") }, detail: operations.deleteOrganization },
    );
}
