import { listQuery, noQuery, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, setAuditNote } from "../answers.ts";
import type { Dependencies } from "../dependencies.ts";
import { requireOrganization } from "../organizations/queries.ts";
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
import { listMembers, requireLivingMember, requireMember, requirePersonOf } from "./queries.ts";

const tags = ["Members"];

const memberAlready = {
  code: "CONFLICT",
  message: "This person is a member already.",
  details: { field: "idp" },
} as const;

/** Members at the organization's address (Identity specification, Members). */
export function membersRoutes(deps: Dependencies) {
  const { database, roles } = deps;
  return new Elysia({ name: "members", normalize: false })
    .use(refuseMalformedIds)
    .group("/organizations/:organization_id/members", (ofOrganization) =>
      ofOrganization
        .guard({ params: pathIds("organization_id") })
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
            response: { 200: answer(pageSchema("members", Member), "A page."), ...errors("NOT_FOUND") },
            detail: {
              summary: "List an organization's members",
              description: "Active and suspended ones, oldest first; removed members are never listed.",
              operationId: "listMembers",
              tags,
            },
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
              ...bodyErrors("NOT_FOUND", memberAlready),
            },
            detail: {
              summary: "Add a member",
              description:
                "Adds the person of an identity provider's subject, active at once. A subject that nobody had becomes a new person. 409 with field `idp` for a person who is a member already.",
              operationId: "addMember",
              tags,
            },
          },
        ),
    )
    .group("/organizations/:organization_id/members/:member_id", (member) =>
      member
        .guard({ params: pathIds("organization_id", "member_id"), query: noQuery })
        .get(
          "",
          async ({ params }) => {
            const row = await database.run("select_member", (orm) => requireMember(orm, params));
            return isLiving(row) ? toMember(row, roles) : toFormerMember(row);
          },
          {
            response: { 200: answer(AnyMember, "The member."), ...errors("NOT_FOUND") },
            detail: {
              summary: "Read a member",
              description: "A removed member answers with the short shape of a former one.",
              operationId: "getMember",
              tags,
            },
          },
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
            response: { 200: answer(Member, "The member, changed.", "details"), ...bodyErrors("NOT_FOUND") },
            detail: {
              summary: "Change a member",
              description:
                "Suspends or re-enables it, gives it another role or another name. The last holder of creator_role keeps it (422).",
              operationId: "updateMember",
              tags,
            },
          },
        )
        .delete(
          "",
          async ({ params, status }) => {
            await removeMemberAt(deps, params);
            return status(204, undefined);
          },
          {
            response: { 204: emptyAnswer("Removed."), ...errors("NOT_FOUND") },
            detail: {
              summary: "Remove a member",
              description:
                "Final: its keys are revoked and its sessions end. The last member, and the last holder of creator_role, can not be removed (422).",
              operationId: "removeMember",
              tags,
            },
          },
        ),
    );
}

/** A member at its own address (Identity specification, Members). */
export function memberSelfRoutes(deps: Dependencies) {
  const { database, roles } = deps;
  return new Elysia({ name: "member-self", normalize: false })
    .use(refuseMalformedIds)
    .group("/members/:member_id", (member) =>
      member
        .guard({ params: pathIds("member_id"), query: noQuery })
        .get(
          "",
          async ({ params }) =>
            toMember(await database.run("select_member", (orm) => requireLivingMember(orm, params)), roles),
          {
            response: { 200: answer(Member, "The member."), ...errors("NOT_FOUND") },
            detail: {
              summary: "Read a member by itself",
              description: "404 once it is removed.",
              operationId: "getMemberSelf",
              tags,
            },
          },
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
            response: { 200: answer(Member, "The member, changed.", "details"), ...bodyErrors("NOT_FOUND") },
            detail: {
              summary: "Change a member by itself",
              description:
                "Its status and its name; the role can be changed at the organization's address only.",
              operationId: "updateMemberSelf",
              tags,
            },
          },
        )
        .delete(
          "",
          async ({ params, status }) => {
            await removeMemberAt(deps, params);
            return status(204, undefined);
          },
          {
            response: { 204: emptyAnswer("Removed."), ...errors("NOT_FOUND") },
            detail: {
              summary: "Leave an organization",
              description:
                "Removes the member, as at the organization's address: the last member, and the last holder of creator_role, stay (422).",
              operationId: "removeMemberSelf",
              tags,
            },
          },
        )
        .get(
          "/user",
          async ({ params }) => ({
            user_id: await database.run("select_member", (orm) => requirePersonOf(orm, params.member_id)),
          }),
          {
            response: { 200: answer(PersonOfMember, "The person's id."), ...errors("NOT_FOUND") },
            detail: {
              summary: "Find the person of a member",
              description:
                "For staff. Removed members still have a person; service accounts and deleted accounts have none (404).",
              operationId: "getUserOfMember",
              tags,
            },
          },
        ),
    );
}
