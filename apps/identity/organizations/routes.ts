import { listQuery, noQuery, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, setAuditNote } from "../answers.ts";
import type { Dependencies } from "../dependencies.ts";
import { trimmed } from "../fields.ts";
import { pathIds, refuseMalformedIds } from "../path-ids.ts";
import { createOrganization, deleteOrganization, renameOrganization } from "./commands.ts";
import {
  CreateOrganizationBody,
  Organization,
  toOrganization,
  UpdateOrganizationBody,
} from "./organization.ts";
import { listOrganizations, requireOrganization } from "./queries.ts";

const tags = ["Organizations"];

/** Organizations (Identity specification, Endpoints). */
export function organizationsRoutes(deps: Dependencies) {
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
        detail: {
          summary: "List all organizations",
          description: "For staff: every organization of the deployment, oldest first.",
          operationId: "listOrganizations",
          tags,
        },
      },
    )
    .post(
      "/users/:user_id/organizations",
      async ({ params, body, status, set }) => {
        const { organization, member_id } = await createOrganization(
          deps,
          params.user_id,
          trimmed(body.name),
        );
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
          ...bodyErrors("NOT_FOUND"),
        },
        detail: {
          summary: "Create an organization",
          description: "The person becomes its first member and is given the roles file's creator_role.",
          operationId: "createOrganization",
          tags,
        },
      },
    )
    .group("/organizations/:organization_id", (organization) =>
      organization
        .guard({ params: pathIds("organization_id"), query: noQuery })
        .get(
          "",
          async ({ params: { organization_id } }) =>
            toOrganization(
              await database.run("select_organization", (orm) => requireOrganization(orm, organization_id)),
            ),
          {
            response: { 200: answer(Organization, "The organization."), ...errors("NOT_FOUND") },
            detail: {
              summary: "Read an organization",
              description: "Its name and times.",
              operationId: "getOrganization",
              tags,
            },
          },
        )
        .patch(
          "",
          async ({ params, body, set }) => {
            const name = trimmed(body.name);
            const { organization, details } = await renameOrganization(deps, params.organization_id, name);
            setAuditNote(set, { details });
            return toOrganization(organization);
          },
          {
            body: UpdateOrganizationBody,
            response: {
              200: answer(Organization, "The organization, renamed.", "details"),
              ...bodyErrors("NOT_FOUND"),
            },
            detail: {
              summary: "Rename an organization",
              description: "Two organizations may have the same name.",
              operationId: "updateOrganization",
              tags,
            },
          },
        )
        .delete(
          "",
          async ({ params, status }) => {
            await deleteOrganization(deps, params.organization_id);
            return status(204, undefined);
          },
          {
            response: { 204: emptyAnswer("Deleted."), ...errors("NOT_FOUND") },
            detail: {
              summary: "Delete an organization",
              description: "Deletes its members, service accounts, invites and keys with it. Final.",
              operationId: "deleteOrganization",
              tags,
            },
          },
        ),
    );
}
