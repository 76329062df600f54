import { IdpSubject } from "@ostiary/lib/contracts/admission";
import { notFound } from "@ostiary/lib/domain/errors";
import { listQuery, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, noContent, setAuditNote } from "../answers.ts";
import type { Directory } from "../directory.ts";
import { noQuery, pathIds, shapeOf } from "../fields.ts";
import { existingId } from "../ids.ts";
import { requireOrganization } from "../organizations/queries.ts";
import { roleField } from "../roles/role-field.ts";
import { checkedSubject } from "../users/subject.ts";
import { addMember } from "./addition.ts";
import { changeMember } from "./change.ts";
import { AnyMember, isLiving, Member, toFormerMember, toMember } from "./member.ts";
import { memberChangeFields, readChange } from "./member-fields.ts";
import { findMember, listMembers } from "./queries.ts";
import { removeMemberAt } from "./removal.ts";

const tags = ["Members"];
const params = pathIds("organization_id", "member_id");

const memberAlready = {
  code: "CONFLICT",
  message: "This person is a member already.",
  details: { field: "idp" },
} as const;

/** Members at the organization's address (Identity specification, Members). */
export function membersRoutes(directory: Directory) {
  const { database, roles } = directory;
  const AddBody = Type.Object(
    { idp: IdpSubject, role: roleField(roles, "Left out: default_role.") },
    shapeOf("Add member request", "Whom to add."),
  );
  const ChangeBody = Type.Object(
    { ...memberChangeFields, role: roleField(roles, "Left out: unchanged.") },
    { ...shapeOf("Update member request", "What to change; at least one field."), minProperties: 1 },
  );
  return new Elysia({ name: "members", normalize: false })
    .get(
      "/organizations/:organization_id/members",
      async ({ params, query }) => {
        const id = existingId("organization", params.organization_id);
        const request = pageRequest(query);
        const rows = await database.run("list_members", async (orm) => {
          await requireOrganization(orm, id);
          return listMembers(orm, id, request);
        });
        const { items, has_more } = page(rows, request.limit);
        return { members: items.map((row) => toMember(row, roles)), has_more };
      },
      {
        params: pathIds("organization_id"),
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
      "/organizations/:organization_id/members",
      async ({ params, body, status, set }) => {
        const id = existingId("organization", params.organization_id);
        const subject = checkedSubject(body.idp);
        const member = await addMember(directory, id, subject, body.role ?? roles.forMembers);
        const shown = toMember(member, roles);
        setAuditNote(set, { details: { member_id: shown.id, role: shown.role }, created: shown.id });
        return status(201, shown);
      },
      {
        params: pathIds("organization_id"),
        query: noQuery,
        body: AddBody,
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
    )
    .get(
      "/organizations/:organization_id/members/:member_id",
      async ({ params }) => {
        const { organizationId, memberId } = address(params);
        const row = await database.run("select_member", (orm) => findMember(orm, memberId));
        if (row === null || row.organizationId !== organizationId) throw notFound("member", memberId);
        return isLiving(row) ? toMember(row, roles) : toFormerMember(row);
      },
      {
        params,
        query: noQuery,
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
      "/organizations/:organization_id/members/:member_id",
      async ({ params, body, set }) => {
        const { member, details } = await changeMember(directory, address(params), readChange(body));
        setAuditNote(set, { details });
        return toMember(member, roles);
      },
      {
        params,
        query: noQuery,
        body: ChangeBody,
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
      "/organizations/:organization_id/members/:member_id",
      async ({ params }) => {
        await removeMemberAt(directory, address(params));
        return noContent();
      },
      {
        params,
        query: noQuery,
        response: { 204: emptyAnswer("Removed."), ...errors("NOT_FOUND") },
        detail: {
          summary: "Remove a member",
          description:
            "Final: its keys are revoked and its sessions end. The last member, and the last holder of creator_role, can not be removed (422).",
          operationId: "removeMember",
          tags,
        },
      },
    );
}

function address(params: { organization_id: string; member_id: string }) {
  return {
    organizationId: existingId("organization", params.organization_id),
    memberId: existingId("member", params.member_id),
  };
}
