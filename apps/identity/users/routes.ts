import { notFound } from "@ostiary/lib/domain/errors";
import { listQuery, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, noContent, setAuditNote } from "../answers.ts";
import type { Directory } from "../directory.ts";
import { noQuery, pathIds, shapeOf, trimmed } from "../fields.ts";
import { existingId } from "../ids.ts";
import { changeUser } from "./change.ts";
import { deleteAccount } from "./deletion.ts";
import { findUser, listMemberships, listUsers } from "./queries.ts";
import { displayNameField, Membership, PersonStatus, toMembership, toUser, User } from "./user.ts";

const tags = ["Users"];
const params = pathIds("user_id");
const NameBody = Type.Object(
  { display_name: displayNameField },
  shapeOf("Update user request", "What to change."),
);
const StatusBody = Type.Object(
  { status: PersonStatus },
  shapeOf("Update user status request", "The status to set."),
);

/** People (Identity specification, Users). */
export function usersRoutes(directory: Directory) {
  const { database, roles } = directory;
  return new Elysia({ name: "users", normalize: false })
    .get(
      "/users",
      async ({ query }) => {
        const request = pageRequest(query);
        const rows = await database.run("list_users", (orm) => listUsers(orm, request));
        const { items, has_more } = page(rows, request.limit);
        return { users: items.map(toUser), has_more };
      },
      {
        query: listQuery,
        response: { 200: answer(pageSchema("users", User), "A page."), ...errors() },
        detail: {
          summary: "List all people",
          description: "For staff: everyone in the directory, oldest first.",
          operationId: "listUsers",
          tags,
        },
      },
    )
    .get(
      "/users/:user_id",
      async ({ params }) => {
        const id = existingId("user", params.user_id);
        const user = await database.run("select_user", (orm) => findUser(orm, id));
        if (user === null) throw notFound("user", id);
        return toUser(user);
      },
      {
        params,
        query: noQuery,
        response: { 200: answer(User, "The person."), ...errors("NOT_FOUND") },
        detail: {
          summary: "Read a person",
          description: "The person's global name and status.",
          operationId: "getUser",
          tags,
        },
      },
    )
    .patch(
      "/users/:user_id",
      async ({ params, body, set }) => {
        const { display_name } = body;
        const name = display_name === null ? null : trimmed(display_name);
        const { user, details } = await changeUser(directory, existingId("user", params.user_id), {
          display_name: name,
        });
        setAuditNote(set, { details });
        return toUser(user);
      },
      {
        params,
        query: noQuery,
        body: NameBody,
        response: { 200: answer(User, "The person, changed.", "details"), ...bodyErrors("NOT_FOUND") },
        detail: {
          summary: "Change a person's name",
          description: "Shown in every organization where the member has no name of its own.",
          operationId: "updateUser",
          tags,
        },
      },
    )
    .patch(
      "/users/:user_id/status",
      async ({ params, body, set }) => {
        const { user, details } = await changeUser(directory, existingId("user", params.user_id), body);
        setAuditNote(set, { details });
        return toUser(user);
      },
      {
        params,
        query: noQuery,
        body: StatusBody,
        response: { 200: answer(User, "The person, changed.", "details"), ...bodyErrors("NOT_FOUND") },
        detail: {
          summary: "Suspend or re-enable a person",
          description: "For staff. Suspended, nothing of the person is admitted in any realm.",
          operationId: "updateUserStatus",
          tags,
        },
      },
    )
    .delete(
      "/users/:user_id",
      async ({ params }) => {
        await deleteAccount(directory, existingId("user", params.user_id));
        return noContent();
      },
      {
        params,
        query: noQuery,
        response: {
          204: emptyAnswer("Deleted."),
          ...errors("NOT_FOUND", "ORGANIZATION_HANDOFF_REQUIRED"),
        },
        detail: {
          summary: "Delete an account",
          description:
            "Ends every membership, deletes keys and links to identity providers. Refused with 409 while an organization would be left without a member or a holder of creator_role; `details.organizations` lists them as {id, name}, at most 100.",
          operationId: "deleteUser",
          tags,
        },
      },
    )
    .get(
      "/users/:user_id/memberships",
      async ({ params, query }) => {
        const id = existingId("user", params.user_id);
        const request = pageRequest(query);
        const rows = await database.run("list_memberships", async (orm) => {
          if ((await findUser(orm, id)) === null) throw notFound("user", id);
          return listMemberships(orm, id, request);
        });
        const { items, has_more } = page(rows, request.limit);
        return { memberships: items.map((row) => toMembership(row, roles)), has_more };
      },
      {
        params,
        query: listQuery,
        response: { 200: answer(pageSchema("memberships", Membership), "A page."), ...errors("NOT_FOUND") },
        detail: {
          summary: "List a person's memberships",
          description: "The organizations where the person is an active member, oldest membership first.",
          operationId: "listMemberships",
          tags,
        },
      },
    );
}
