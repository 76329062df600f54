import { listQuery, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, noContent, setAuditNote } from "../answers.ts";
import { changesBetween } from "../changes.ts";
import type { Directory } from "../directory.ts";
import { nameField, noQuery, pathIds, shapeOf, trimmed } from "../fields.ts";
import { existingId } from "../ids.ts";
import { organizationEvent } from "../lifecycle/lifecycle-event.ts";
import { appendEvents } from "../lifecycle/queries.ts";
import { createOrganization } from "./creation.ts";
import { Organization, toOrganization } from "./organization.ts";
import {
  deleteOrganization,
  listOrganizations,
  lockOrganization,
  renameOrganization,
  requireOrganization,
} from "./queries.ts";

const tags = ["Organizations"];
const name = nameField("The organization's name.", "Analytical Engines");
const CreateBody = Type.Object({ name }, shapeOf("Create organization request", "A new organization."));
const UpdateBody = Type.Object({ name }, shapeOf("Update organization request", "What to change."));
const params = pathIds("organization_id");

/** Organizations (Identity specification, Endpoints). */
export function organizationsRoutes(directory: Directory) {
  const { database } = directory;
  return new Elysia({ name: "organizations", normalize: false })
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
        const userId = existingId("user", params.user_id);
        const { organization, memberId } = await createOrganization(directory, userId, trimmed(body.name));
        setAuditNote(set, {
          created: organization.id,
          organization: { organization_id: organization.id, member_id: memberId },
        });
        return status(201, toOrganization(organization));
      },
      {
        params: pathIds("user_id"),
        query: noQuery,
        body: CreateBody,
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
    .get(
      "/organizations/:organization_id",
      async ({ params }) => {
        const id = existingId("organization", params.organization_id);
        return toOrganization(
          await database.run("select_organization", (orm) => requireOrganization(orm, id)),
        );
      },
      {
        params,
        query: noQuery,
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
      "/organizations/:organization_id",
      async ({ params, body, set }) => {
        const id = existingId("organization", params.organization_id);
        const { organization, details } = await rename(directory, id, trimmed(body.name));
        setAuditNote(set, { details });
        return toOrganization(organization);
      },
      {
        params,
        query: noQuery,
        body: UpdateBody,
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
      "/organizations/:organization_id",
      async ({ params }) => {
        const id = existingId("organization", params.organization_id);
        await remove(directory, id);
        return noContent();
      },
      {
        params,
        query: noQuery,
        response: { 204: emptyAnswer("Deleted."), ...errors("NOT_FOUND") },
        detail: {
          summary: "Delete an organization",
          description: "Deletes its members, service accounts, invites and keys with it. Final.",
          operationId: "deleteOrganization",
          tags,
        },
      },
    );
}

function remove({ database, now }: Directory, id: string): Promise<void> {
  const work = async (tx: Orm) => {
    const organization = await lockOrganization(tx, id, "delete");
    await deleteOrganization(tx, id);
    await appendEvents(tx, [organizationEvent("organization.deleted", organization)], now());
  };
  return database.transaction("delete_organization", work, { lane: id });
}

function rename({ database, now }: Directory, id: string, name: string) {
  const work = async (tx: Orm) => {
    const before = await lockOrganization(tx, id, "update");
    const details = changesBetween({ name: before.name }, { name });
    if (details.name === undefined) return { organization: before, details };
    const updatedAt = now();
    await renameOrganization(tx, id, name, updatedAt);
    return { organization: { ...before, name, updatedAt }, details };
  };
  return database.transaction("rename_organization", work, { lane: id });
}
