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
import { changeUser, deleteAccount } from "./commands.ts";
import { operations } from "./operation-texts.ts";
import { listMemberships, listUsers, requireUser } from "./sql.ts";
import { Membership, toMembership, toUser, UpdateUserBody, UpdateUserStatusBody, User } from "./user.ts";

/** Returns the routes of people (ID-15). */
export function usersHandlers(deps: Dependencies) {
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
        detail: operations.listUsers,
      },
    )
    .use(userHandlers(deps))
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
        detail: operations.listMemberships,
      },
    );
}

/** Returns the routes of one person. */
function userHandlers(deps: Dependencies) {
  return new Elysia({ name: "user", normalize: false, prefix: "/users/:user_id" })
    .use(refuseMalformedIds)
    .guard({ params: pathIds("user_id"), query: noQuery, response: errors("NOT_FOUND") })
    .get(
      "",
      async ({ params: { user_id } }) =>
        toUser(await deps.database.run("select_user", (orm) => requireUser(orm, user_id))),
      { response: { 200: answer(User, "The person.") }, detail: operations.getUser },
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
        response: { 200: answer(User, "The changed person.", "details"), ...bodyErrors() },
        detail: operations.updateUser,
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
        response: { 200: answer(User, "The changed person.", "details"), ...bodyErrors() },
        detail: operations.updateUserStatus,
      },
    )
    .delete(
      "",
      async ({ params, status }) => {
        await deleteAccount(deps, params.user_id);
        return status(204, undefined);
      },
      {
        response: { 204: emptyAnswer("Deleted."), ...errors("ORGANIZATION_HANDOFF_REQUIRED") },
        detail: operations.deleteUser,
      },
    );
}
