import { describeOperations } from "@ostiary/lib/openapi";
import {
  bodyErrors,
  emptyResponse,
  listQuery,
  noQuery,
  response,
  setAuditNote,
} from "@ostiary/lib/runtime/http";
import { status } from "elysia";
import type { Dependencies } from "../dependencies.ts";
import { handlersAt, listHandlersAt, noteChange, pageResponse, readPage } from "../identity-handlers.ts";
import { requireOrganization } from "../organizations/organization-sql.ts";
import { checkedSubject } from "../users/user.ts";
import {
  AnyMember,
  addMemberBody,
  isCurrent,
  Member,
  type MemberChange,
  memberAlready,
  PersonOfMember,
  readChange,
  toFormerMember,
  toMember,
  UpdateMemberSelfBody,
  updateMemberBody,
} from "./member.ts";
import { addMember, changeMember, removeMemberAt } from "./member-commands.ts";
import {
  listMembers,
  type MemberAddress,
  requireCurrentMember,
  requireMember,
  requirePersonOf,
} from "./member-sql.ts";

const operations = describeOperations(
  {
    listMembers: [
      "List an organization's members",
      "Active and suspended members, oldest first; removed members are never listed.",
    ],
    addMember: [
      "Add a member",
      "Adds the person with this subject of an identity provider. The member is active at once. An unknown subject becomes a new person. 409 with field `idp` for a person who is already a member.",
    ],
    getMember: ["Read a member", "A removed member is shown with its last name and the status `removed`."],
    updateMember: [
      "Change a member",
      "Suspends or re-enables the member, or changes its role or name. The last holder of creator_role must keep it (422).",
    ],
    removeMember: [
      "Remove a member",
      "Final: the member's keys are revoked and its sessions end. The last member, and the last holder of creator_role, cannot be removed (422).",
    ],
    getMemberSelf: ["Read a member by its id alone", "404 for a removed member."],
    updateMemberSelf: [
      "Change a member by its id alone",
      "Changes the member's status and name. Only the path that names the organization can change the role.",
    ],
    removeMemberSelf: [
      "Leave an organization",
      "The same as the removal by the path that names the organization. The last member, and the last holder of creator_role, cannot leave (422).",
    ],
    getUserOfMember: [
      "Find the person of a member",
      "Only the staff catalog publishes this operation. Removed members still have a person; service accounts and deleted accounts have none (404).",
    ],
  },
  ["Members"],
);

/** Returns the routes that list and add the members of an organization (ID-29). */
export function membersHandlers(deps: Dependencies) {
  const { database, roles } = deps;
  return listHandlersAt("/organizations/:organization_id/members", "organization_id")
    .get(
      "",
      async ({ params: { organization_id }, query }) => {
        const { items, has_more } = await readPage(database, "list_members", query, async (orm, request) => {
          await requireOrganization(orm, organization_id);
          return listMembers(orm, organization_id, request);
        });
        return { members: items.map((row) => toMember(row, roles)), has_more };
      },
      {
        query: listQuery,
        response: { 200: pageResponse("members", Member) },
        detail: operations.listMembers,
      },
    )
    .post(
      "",
      async ({ params, body, set }) => {
        const subject = checkedSubject(body.idp);
        const role = body.role ?? roles.forMembers;
        const member = toMember(await addMember(deps, params.organization_id, subject, role), roles);
        setAuditNote(set, { details: { member_id: member.id, role: member.role }, created: member.id });
        return status(201, member);
      },
      {
        query: noQuery,
        body: addMemberBody(roles),
        response: {
          201: response(Member, "The new member.", "details", "created"),
          ...bodyErrors(memberAlready),
        },
        detail: operations.addMember,
      },
    );
}

/** The parts of a request that change and removal of a member use. */
interface MemberCall {
  params: MemberAddress;
  body: MemberChange;
  set: Parameters<typeof setAuditNote>[0];
}

/** Returns the change and the removal of a member, for paths with and without the organization. */
function memberWrites(deps: Dependencies) {
  const change = async ({ params, body, set }: MemberCall) =>
    toMember(noteChange(set, await changeMember(deps, params, readChange(body))), deps.roles);
  const remove = async ({ params }: Pick<MemberCall, "params">) => {
    await removeMemberAt(deps, params);
    return status(204, undefined);
  };
  return {
    change: {
      handler: change,
      response: { 200: response(Member, "The changed member.", "details"), ...bodyErrors() },
    },
    removal: { handler: remove, response: { 204: emptyResponse("Removed.") } },
  };
}

/** Returns the routes under `/organizations/:organization_id/members/:member_id`. */
export function memberHandlers(deps: Dependencies) {
  const { database, roles } = deps;
  const { change, removal } = memberWrites(deps);
  const prefix = "/organizations/:organization_id/members/:member_id";
  return handlersAt(prefix, "organization_id", "member_id")
    .get(
      "",
      async ({ params }) => {
        const row = await database.run("select_member", (orm) => requireMember(orm, params));
        return isCurrent(row) ? toMember(row, roles) : toFormerMember(row);
      },
      { response: { 200: response(AnyMember, "The member.") }, detail: operations.getMember },
    )
    .patch("", change.handler, {
      body: updateMemberBody(roles),
      response: change.response,
      detail: operations.updateMember,
    })
    .delete("", removal.handler, { response: removal.response, detail: operations.removeMember });
}

/** Returns the routes under `/members/:member_id`, which name a member without its organization (ID-33). */
export function memberSelfHandlers(deps: Dependencies) {
  const { database, roles } = deps;
  const { change, removal } = memberWrites(deps);
  return handlersAt("/members/:member_id", "member_id")
    .get(
      "",
      async ({ params }) =>
        toMember(await database.run("select_member", (orm) => requireCurrentMember(orm, params)), roles),
      { response: { 200: response(Member, "The member.") }, detail: operations.getMemberSelf },
    )
    .patch("", change.handler, {
      body: UpdateMemberSelfBody,
      response: change.response,
      detail: operations.updateMemberSelf,
    })
    .delete("", removal.handler, { response: removal.response, detail: operations.removeMemberSelf })
    .get(
      "/user",
      async ({ params }) => ({
        user_id: await database.run("select_member", (orm) => requirePersonOf(orm, params.member_id)),
      }),
      { response: { 200: response(PersonOfMember, "The person's id.") }, detail: operations.getUserOfMember },
    );
}
