import { listQuery, noQuery, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, setAuditNote } from "../answers.ts";
import type { Dependencies } from "../dependencies.ts";
import { Member, toMember } from "../members/member.ts";
import { requireOrganization } from "../organizations/queries.ts";
import { pathIds, refuseMalformedIds } from "../path-ids.ts";
import { createInvite, expireOverdue, redeemInvite, revokeInvite } from "./commands.ts";
import { createInviteBody, Invite, RedeemInviteBody, toInvite } from "./invite.ts";
import { listInvites } from "./queries.ts";

const tags = ["Invites"];

const inviteIsOver = {
  code: "CONFLICT",
  message: "This invite is revoked.",
  details: { field: "status", value: "revoked" },
} as const;

/** Invites (Identity specification, Invites). */
export function invitesRoutes(deps: Dependencies) {
  const { database, roles } = deps;
  return new Elysia({ name: "invites", normalize: false })
    .use(refuseMalformedIds)
    .group("/organizations/:organization_id/invites", (invites) =>
      invites
        .guard({ params: pathIds("organization_id") })
        .post(
          "",
          async ({ params, body, status, set }) => {
            const invite = toInvite(await createInvite(deps, params.organization_id, body), roles);
            setAuditNote(set, { details: { invite_id: invite.id, role: invite.role }, created: invite.id });
            return status(201, invite);
          },
          {
            query: noQuery,
            body: createInviteBody(roles),
            response: {
              201: answer(Invite, "The invite with its token.", "details", "created"),
              ...bodyErrors("NOT_FOUND"),
            },
            detail: {
              summary: "Create an invite",
              description:
                "The token is in the answer, and in the list of invites while the invite is active.",
              operationId: "createInvite",
              tags,
            },
          },
        )
        .get(
          "",
          async ({ params: { organization_id }, query }) => {
            const request = pageRequest(query);
            const rows = await database.run("list_invites", async (orm) => {
              await requireOrganization(orm, organization_id);
              return listInvites(orm, organization_id, request);
            });
            const { items, has_more } = page(await expireOverdue(deps, rows), request.limit);
            return { invites: items.map((row) => toInvite(row, roles)), has_more };
          },
          {
            query: listQuery,
            response: { 200: answer(pageSchema("invites", Invite), "A page."), ...errors("NOT_FOUND") },
            detail: {
              summary: "List an organization's invites",
              description: "Oldest first, in every state.",
              operationId: "listInvites",
              tags,
            },
          },
        ),
    )
    .delete(
      "/organizations/:organization_id/invites/:invite_id",
      async ({ params, status }) => {
        await revokeInvite(deps, params.organization_id, params.invite_id);
        return status(204, undefined);
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
        const { member, isNew } = await redeemInvite(deps, params.user_id, body.token);
        const { id, organization_id } = member;
        setAuditNote(set, {
          ...(isNew && { created: id }),
          organization: { organization_id, member_id: id },
        });
        return status(isNew ? 201 : 200, toMember(member, roles));
      },
      {
        params: pathIds("user_id"),
        query: noQuery,
        body: RedeemInviteBody,
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
