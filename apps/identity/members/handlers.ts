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
import { requireOrganization } from "../organizations/sql.ts";
import { pathIds, refuseMalformedIds } from "../path-ids.ts";
import { checkedSubject } from "../users/user.ts";
import { addMember, changeMember, removeMemberAt } from "./commands.ts";
import {
  AnyMember,
  addMemberBody,
  isLiving,
  Member,
  PersonOfMember,
  readChange,
  toFormerMember,
  toMember,
  UpdateMemberSelfBody,
  updateMemberBody,
} from "./member.ts";
import { operations } from "./operation-texts.ts";
import { listMembers, requireLivingMember, requireMember, requirePersonOf } from "./sql.ts";

const memberAlready = {
  code: "CONFLICT",
  message: "This person is a member already.",
  details: { field: "idp" },
} as const;

/** Returns the routes that list and add the members of an organization (ID-29). */
export function membersHandlers(deps: Dependencies) {
  const { database, roles } = deps;
  return new Elysia({ name: "members", normalize: false, prefix: "/organizations/:organization_id/members" })
    .use(refuseMalformedIds)
    .guard({ params: pathIds("organization_id"), response: errors("NOT_FOUND") })
    .get(
      "",
      async ({ params: { organization_id }, query }) => {
        const request = pageRequest(query);
        const rows = await database.run("list_members", async (orm) => {
          await requireOrganization(orm, organization_id);
          return listMembers(orm, organization_id, request);
        });
        const { items, has_more } = page(rows, request.limit);
        return { members: items.map((row) => toMember(row, roles)), has_more };
      },
      {
        query: listQuery,
        response: { 200: answer(pageSchema("members", Member), "A page.") },
        detail: operations.listMembers,
      },
    )
    .post(
      "",
      async ({ params, body, status, set }) => {
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
          201: answer(Member, "The new member.", "details", "created"),
          ...bodyErrors(memberAlready),
        },
        detail: operations.addMember,
      },
    );
}

/** Returns the routes under `/organizations/:organization_id/members/:member_id`. */
export function memberHandlers(deps: Dependencies) {
  const { database, roles } = deps;
  const prefix = "/organizations/:organization_id/members/:member_id";
  return new Elysia({ name: "member", normalize: false, prefix })
    .use(refuseMalformedIds)
    .guard({
      params: pathIds("organization_id", "member_id"),
      query: noQuery,
      response: errors("NOT_FOUND"),
    })
    .get(
      "",
      async ({ params }) => {
        const row = await database.run("select_member", (orm) => requireMember(orm, params));
        return isLiving(row) ? toMember(row, roles) : toFormerMember(row);
      },
      { response: { 200: answer(AnyMember, "The member.") }, detail: operations.getMember },
    )
    .patch(
      "",
      async ({ params, body, set }) => {
        const { member, details } = await changeMember(deps, params, readChange(body));
        setAuditNote(set, { details });
        return toMember(member, roles);
      },
      {
        body: updateMemberBody(roles),
        response: { 200: answer(Member, "The changed member.", "details"), ...bodyErrors() },
        detail: operations.updateMember,
      },
    )
    .delete(
      "",
      async ({ params, status }) => {
        await removeMemberAt(deps, params);
        return status(204, undefined);
      },
      { response: { 204: emptyAnswer("Removed.") }, detail: operations.removeMember },
    );
}

/** Returns the routes under `/members/:member_id`, which name a member without its organization (ID-33). */
export function memberSelfHandlers(deps: Dependencies) {
  const { database, roles } = deps;
  return new Elysia({ name: "member-self", normalize: false, prefix: "/members/:member_id" })
    .use(refuseMalformedIds)
    .guard({ params: pathIds("member_id"), query: noQuery, response: errors("NOT_FOUND") })
    .get(
      "",
      async ({ params }) =>
        toMember(await database.run("select_member", (orm) => requireLivingMember(orm, params)), roles),
      { response: { 200: answer(Member, "The member.") }, detail: operations.getMemberSelf },
    )
    .patch(
      "",
      async ({ params, body, set }) => {
        const { member, details } = await changeMember(deps, params, readChange(body));
        setAuditNote(set, { details });
        return toMember(member, roles);
      },
      {
        body: UpdateMemberSelfBody,
        response: { 200: answer(Member, "The changed member.", "details"), ...bodyErrors() },
        detail: operations.updateMemberSelf,
      },
    )
    .delete(
      "",
      async ({ params, status }) => {
        await removeMemberAt(deps, params);
        return status(204, undefined);
      },
      { response: { 204: emptyAnswer("Removed.") }, detail: operations.removeMemberSelf },
    )
    .get(
      "/user",
      async ({ params }) => ({
        user_id: await database.run("select_member", (orm) => requirePersonOf(orm, params.member_id)),
      }),
      { response: { 200: answer(PersonOfMember, "The person's id.") }, detail: operations.getUserOfMember },
    );
}
