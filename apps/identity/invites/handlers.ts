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
import { Member, toMember } from "../members/member.ts";
import { requireOrganization } from "../organizations/sql.ts";
import { pathIds, refuseMalformedIds } from "../path-ids.ts";
import { createInvite, expireOverdue, redeemInvite, revokeInvite } from "./commands.ts";
import { createInviteBody, Invite, RedeemInviteBody, toInvite } from "./invite.ts";
import { operations } from "./operation-texts.ts";
import { listInvites } from "./sql.ts";

const inviteIsOver = {
  code: "CONFLICT",
  message: "This invite is revoked.",
  details: { field: "status", value: "revoked" },
} as const;

/** Returns the routes of invites (ID-40). */
export function invitesHandlers(deps: Dependencies) {
  return new Elysia({ name: "invites", normalize: false })
    .use(organizationInvitesHandlers(deps))
    .use(refuseMalformedIds)
    .delete(
      "/organizations/:organization_id/invites/:invite_id",
      async ({ params, status }) => {
        await revokeInvite(deps, params.organization_id, params.invite_id);
        return status(204, undefined);
      },
      {
        params: pathIds("organization_id", "invite_id"),
        query: noQuery,
        response: {
          204: emptyAnswer("The invite is revoked, or had already ended."),
          ...errors("NOT_FOUND"),
        },
        detail: operations.revokeInvite,
      },
    )
    .post(
      "/users/:user_id/invites/redeem",
      async ({ params, body, status, set }) => {
        const { member, isNew } = await redeemInvite(deps, params.user_id, body.token);
        const { id, organization_id } = member;
        const organization = { organization_id, member_id: id };
        setAuditNote(set, { ...(isNew && { created: id }), organization });
        return status(isNew ? 201 : 200, toMember(member, deps.roles));
      },
      {
        params: pathIds("user_id"),
        query: noQuery,
        body: RedeemInviteBody,
        response: {
          200: answer(Member, "The existing membership of the person.", "organization"),
          201: answer(Member, "The new member.", "created", "organization"),
          ...bodyErrors("NOT_FOUND", inviteIsOver),
        },
        detail: operations.redeemInvite,
      },
    );
}

/** Returns the routes of an organization's invites. */
function organizationInvitesHandlers(deps: Dependencies) {
  const { database, roles } = deps;
  const prefix = "/organizations/:organization_id/invites";
  return new Elysia({ name: "invites-of-organization", normalize: false, prefix })
    .use(refuseMalformedIds)
    .guard({ params: pathIds("organization_id"), response: errors("NOT_FOUND") })
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
          ...bodyErrors(),
        },
        detail: operations.createInvite,
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
        response: { 200: answer(pageSchema("invites", Invite), "A page.") },
        detail: operations.listInvites,
      },
    );
}
