import { notFound } from "@ostiary/lib/domain/errors";
import { listQuery, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, noContent, setAuditNote } from "../answers.ts";
import type { Directory } from "../directory.ts";
import { noQuery, pathIds, shapeOf } from "../fields.ts";
import { existingId } from "../ids.ts";
import { Member, toMember } from "../members/member.ts";
import { createInviteBody, Invite, toInvite } from "./invite.ts";
import { createInvite, pageOfInvites, revokeInvite } from "./invites.ts";
import { redeemInvite } from "./redemption.ts";

const tags = ["Invites"];

const RedeemBody = Type.Object(
  {
    token: Type.String({
      minLength: 1,
      description: "The invite's token.",
      examples: ["inv_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF"],
      rule: "must be the invite's token",
    }),
  },
  shapeOf("Redeem invite request", "The invite to redeem."),
);

const inviteIsOver = {
  code: "CONFLICT",
  message: "This invite is revoked.",
  details: { field: "status", value: "revoked" },
} as const;

/** Invites (Identity specification, Invites). */
export function invitesRoutes(directory: Directory) {
  const { roles } = directory;
  return new Elysia({ name: "invites", normalize: false })
    .post(
      "/organizations/:organization_id/invites",
      async ({ params, body, status, set }) => {
        const id = existingId("organization", params.organization_id);
        const invite = toInvite(await createInvite(directory, id, body), roles);
        setAuditNote(set, { details: { invite_id: invite.id, role: invite.role }, created: invite.id });
        return status(201, invite);
      },
      {
        params: pathIds("organization_id"),
        query: noQuery,
        body: createInviteBody(roles),
        response: {
          201: answer(Invite, "The invite with its token.", "details", "created"),
          ...bodyErrors("NOT_FOUND"),
        },
        detail: {
          summary: "Create an invite",
          description: "The token is in the answer, and in the list of invites while the invite is active.",
          operationId: "createInvite",
          tags,
        },
      },
    )
    .get(
      "/organizations/:organization_id/invites",
      async ({ params, query }) => {
        const id = existingId("organization", params.organization_id);
        const request = pageRequest(query);
        const { items, has_more } = page(await pageOfInvites(directory, id, request), request.limit);
        return { invites: items.map((row) => toInvite(row, roles)), has_more };
      },
      {
        params: pathIds("organization_id"),
        query: listQuery,
        response: { 200: answer(pageSchema("invites", Invite), "A page."), ...errors("NOT_FOUND") },
        detail: {
          summary: "List an organization's invites",
          description: "Oldest first, in every state.",
          operationId: "listInvites",
          tags,
        },
      },
    )
    .delete(
      "/organizations/:organization_id/invites/:invite_id",
      async ({ params }) => {
        const organizationId = existingId("organization", params.organization_id);
        const id = existingId("invite", params.invite_id);
        if (!(await revokeInvite(directory, organizationId, id))) throw notFound("invite", id);
        return noContent();
      },
      {
        params: pathIds("organization_id", "invite_id"),
        query: noQuery,
        response: { 204: emptyAnswer("Revoked, or over already."), ...errors("NOT_FOUND") },
        detail: {
          summary: "Revoke an invite",
          description: "An invite that is redeemed, revoked or expired stays as it is.",
          operationId: "revokeInvite",
          tags,
        },
      },
    )
    .post(
      "/users/:user_id/invites/redeem",
      async ({ params, body, status, set }) => {
        const userId = existingId("user", params.user_id);
        const { member, isNew } = await redeemInvite(directory, userId, body.token);
        setAuditNote(set, {
          ...(isNew && { created: member.id }),
          organization: { organization_id: member.organizationId, member_id: member.id },
        });
        return status(isNew ? 201 : 200, toMember(member, roles));
      },
      {
        params: pathIds("user_id"),
        query: noQuery,
        body: RedeemBody,
        response: {
          200: answer(Member, "The member that the person is already.", "organization"),
          201: answer(Member, "The new member.", "created", "organization"),
          ...bodyErrors("NOT_FOUND", inviteIsOver),
        },
        detail: {
          summary: "Redeem an invite",
          description:
            "201 for a new member with the invite's role; 200 for a person who is one already, which counts as a use too. 409 with field `status` for an invite that is redeemed, revoked or expired.",
          operationId: "redeemInvite",
          tags,
        },
      },
    );
}
