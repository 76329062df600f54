import { IdpSubject } from "@ostiary/lib/contracts/admission";
import { describeOperations } from "@ostiary/lib/openapi";
import {
  bodyErrors,
  emptyResponse,
  errors,
  listQuery,
  response,
  setAuditNote,
} from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import type { Dependencies } from "../dependencies.ts";
import { trimmed } from "../fields.ts";
import { handlersAt, listHandlersAt, noteChange, pageResponse, readPage } from "../identity-handlers.ts";
import {
  enteredSubject,
  IdpLink,
  Membership,
  toIdpLink,
  toMembership,
  toUser,
  UpdateUserBody,
  UpdateUserStatusBody,
  User,
} from "./user.ts";
import { changeUser, deleteAccount, linkSubject } from "./user-commands.ts";
import { listMemberships, listUsers, requireUser } from "./user-sql.ts";

const operations = describeOperations(
  {
    listUsers: [
      "List all people",
      "Lists everyone in the directory, oldest first. Only the staff catalog publishes this operation.",
    ],
    getUser: ["Read a person", "The person's global name and status."],
    updateUser: [
      "Change a person's name",
      "An organization shows this name unless the member has a name for that organization.",
    ],
    updateUserStatus: [
      "Suspend or re-enable a person",
      "Only the staff catalog publishes this operation. No credential of a suspended person is admitted, in any realm.",
    ],
    linkSubject: [
      "Link a further subject to a person",
      "Only the staff catalog publishes this operation. From now on tokens with this issuer and subject stand for the person, also if the person is suspended. A person has at most 10 subjects. 409 with field `subject` if the subject stands for a person already, this one included; `value` is the id of that person. The first validation of a token links its subject to a new person, so link subjects before people sign in with them.",
    ],
    deleteUser: [
      "Delete an account",
      "Ends every membership and deletes the person's keys and links to identity providers. 409 while an organization would be left without a member or a holder of creator_role; `details.organizations` lists at most 100 of them as {id, name}.",
    ],
    listMemberships: [
      "List a person's memberships",
      "The organizations where the person is an active member, oldest membership first.",
    ],
  },
  ["Users"],
);

/** Returns the routes of people (ID-15). */
export function usersHandlers(deps: Dependencies) {
  const { database } = deps;
  return new Elysia({ name: "users", normalize: false })
    .get(
      "/users",
      async ({ query }) => {
        const { items, has_more } = await readPage(database, "list_users", query, listUsers);
        return { users: items.map(toUser), has_more };
      },
      {
        query: listQuery,
        response: { 200: pageResponse("users", User), ...errors() },
        detail: operations.listUsers,
      },
    )
    .use(userHandlers(deps))
    .use(membershipsHandlers(deps));
}

/** Returns the routes of one person. */
function userHandlers(deps: Dependencies) {
  const { database } = deps;
  return handlersAt("/users/:user_id", "user_id")
    .get(
      "",
      async ({ params: { user_id } }) =>
        toUser(await database.run("select_user", (orm) => requireUser(orm, user_id))),
      { response: { 200: response(User, "The person.") }, detail: operations.getUser },
    )
    .patch(
      "",
      async ({ params, body, set }) => {
        const display_name = body.display_name === null ? null : trimmed(body.display_name);
        return toUser(noteChange(set, await changeUser(deps, params.user_id, { display_name })));
      },
      {
        body: UpdateUserBody,
        response: { 200: response(User, "The changed person.", "details"), ...bodyErrors() },
        detail: operations.updateUser,
      },
    )
    .patch(
      "/status",
      async ({ params, body, set }) => toUser(noteChange(set, await changeUser(deps, params.user_id, body))),
      {
        body: UpdateUserStatusBody,
        response: { 200: response(User, "The changed person.", "details"), ...bodyErrors() },
        detail: operations.updateUserStatus,
      },
    )
    .post(
      "/idps",
      async ({ params, body, set, status }) => {
        const link = toIdpLink(await linkSubject(deps, params.user_id, enteredSubject(body)));
        const { user_id, issuer, subject } = link;
        setAuditNote(set, { details: { user_id, issuer, subject } });
        return status(201, link);
      },
      {
        body: IdpSubject,
        response: { 201: response(IdpLink, "The linked subject.", "details"), ...bodyErrors("CONFLICT") },
        detail: operations.linkSubject,
      },
    )
    .delete(
      "",
      async ({ params, status }) => {
        await deleteAccount(deps, params.user_id);
        return status(204, undefined);
      },
      {
        response: { 204: emptyResponse("Deleted."), ...errors("ORGANIZATION_HANDOFF_REQUIRED") },
        detail: operations.deleteUser,
      },
    );
}

/** Returns the route that lists a person's memberships. */
function membershipsHandlers({ database, roles }: Dependencies) {
  return listHandlersAt("/users/:user_id/memberships", "user_id").get(
    "",
    async ({ params: { user_id }, query }) => {
      const { items, has_more } = await readPage(
        database,
        "list_memberships",
        query,
        async (orm, request) => {
          await requireUser(orm, user_id);
          return listMemberships(orm, user_id, request);
        },
      );
      return { memberships: items.map((row) => toMembership(row, roles)), has_more };
    },
    {
      query: listQuery,
      response: { 200: pageResponse("memberships", Membership) },
      detail: operations.listMemberships,
    },
  );
}
