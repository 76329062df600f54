import { listQuery, noQuery, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, setAuditNote } from "../answers.ts";
import type { Dependencies } from "../dependencies.ts";
import { trimmed } from "../fields.ts";
import { pathIds, refuseMalformedIds } from "../path-ids.ts";
import { changeUser, deleteAccount } from "./commands.ts";
import { listMemberships, listUsers, requireUser } from "./queries.ts";
import { Membership, toMembership, toUser, UpdateUserBody, UpdateUserStatusBody, User } from "./user.ts";

const tags = ["Users"];

/** People (Identity specification, Users). */
export function usersRoutes(deps: Dependencies) {
  const { database, roles } = deps;
  return new Elysia({ name: "users", normalize: false })
    .use(refuseMalformedIds)
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
    .group("/users/:user_id", (user) =>
      user
        .guard({ params: pathIds("user_id"), query: noQuery })
        .get(
          "",
          async ({ params: { user_id } }) =>
            toUser(await database.run("select_user", (orm) => requireUser(orm, user_id))),
          {
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
          "",
          async ({ params, body, set }) => {
            const display_name = body.display_name === null ? null : trimmed(body.display_name);
            const { user, details } = await changeUser(deps, params.user_id, { display_name });
            setAuditNote(set, { details });
            return toUser(user);
          },
          {
            body: UpdateUserBody,
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
          "/status",
          async ({ params, body, set }) => {
            const { user, details } = await changeUser(deps, params.user_id, body);
            setAuditNote(set, { details });
            return toUser(user);
          },
          {
            body: UpdateUserStatusBody,
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
          "",
          async ({ params, status }) => {
            await deleteAccount(deps, params.user_id);
            return status(204, undefined);
          },
          {
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
        ),
    )
    .get(
      "/users/:user_id/memberships",
      async ({ params: { user_id }, query }) => {
        const request = pageRequest(query);
        const rows = await database.run("list_memberships", async (orm) => {
          await requireUser(orm, user_id);
          return listMemberships(orm, user_id, request);
        });
        const { items, has_more } = page(rows, request.limit);
        return { memberships: items.map((row) => toMembership(row, roles)), has_more };
      },
      {
        params: pathIds("user_id"),
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
