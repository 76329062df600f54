import { notFound } from "@ostiary/lib/domain/errors";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, noContent, setAuditNote } from "../answers.ts";
import type { Directory } from "../directory.ts";
import { idField, noQuery, pathIds, shapeOf } from "../fields.ts";
import { existingId } from "../ids.ts";
import { changeMember } from "./change.ts";
import { Member, toMember } from "./member.ts";
import { memberChangeFields, readChange } from "./member-fields.ts";
import { findLivingMember, findMember } from "./queries.ts";
import { removeMemberAt } from "./removal.ts";

const tags = ["Members"];
const params = pathIds("member_id");
const SelfChangeBody = Type.Object(memberChangeFields, {
  ...shapeOf("Update member self request", "What to change; at least one field."),
  minProperties: 1,
});
const PersonOfMember = Type.Object(
  { user_id: idField("The person.") },
  shapeOf("Person of member", "The person that a member is."),
);

/** A member at its own address (Identity specification, Members). */
export function memberSelfRoutes(directory: Directory) {
  const { database, roles } = directory;
  return new Elysia({ name: "member-self", normalize: false })
    .get(
      "/members/:member_id",
      async ({ params }) => {
        const id = existingId("member", params.member_id);
        const member = await database.run("select_member", (orm) => findLivingMember(orm, id));
        if (member === null) throw notFound("member", id);
        return toMember(member, roles);
      },
      {
        params,
        query: noQuery,
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
      "/members/:member_id",
      async ({ params, body, set }) => {
        const memberId = existingId("member", params.member_id);
        const { member, details } = await changeMember(directory, { memberId }, readChange(body));
        setAuditNote(set, { details });
        return toMember(member, roles);
      },
      {
        params,
        query: noQuery,
        body: SelfChangeBody,
        response: { 200: answer(Member, "The member, changed.", "details"), ...bodyErrors("NOT_FOUND") },
        detail: {
          summary: "Change a member by itself",
          description: "Its status and its name; the role can be changed at the organization's address only.",
          operationId: "updateMemberSelf",
          tags,
        },
      },
    )
    .delete(
      "/members/:member_id",
      async ({ params }) => {
        await removeMemberAt(directory, { memberId: existingId("member", params.member_id) });
        return noContent();
      },
      {
        params,
        query: noQuery,
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
      "/members/:member_id/user",
      async ({ params }) => {
        const id = existingId("member", params.member_id);
        const member = await database.run("select_member", (orm) => findMember(orm, id));
        if (!member?.userId) throw notFound("user");
        return { user_id: member.userId };
      },
      {
        params,
        query: noQuery,
        response: { 200: answer(PersonOfMember, "The person's id."), ...errors("NOT_FOUND") },
        detail: {
          summary: "Find the person of a member",
          description:
            "For staff. Removed members still have a person; service accounts and deleted accounts have none (404).",
          operationId: "getUserOfMember",
          tags,
        },
      },
    );
}
