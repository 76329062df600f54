import { describeOperations } from "@ostiary/lib/openapi";
import {
  bodyErrors,
  emptyResponse,
  listQuery,
  noQuery,
  page,
  pageRequest,
  response,
  setAuditNote,
} from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import type { Dependencies } from "../dependencies.ts";
import { handlersAt, listHandlersAt, pageResponse } from "../identity-handlers.ts";
import { Member, toMember } from "../members/member.ts";
import { requireOrganization } from "../organizations/organization-sql.ts";
import { createInviteBody, Invite, InvitePreview, InviteTokenBody, toInvite } from "./invite.ts";
import { createInvite, expireOverdue, previewInvite, redeemInvite, revokeInvite } from "./invite-commands.ts";
import { listInvites } from "./invite-sql.ts";

const operations = describeOperations(
  {
    createInvite: [
      "Create an invite",
      "The response contains the token. The list of invites contains it too while the invite is active.",
    ],
    listInvites: ["List an organization's invites", "The invites in every state, oldest first."],
    revokeInvite: [
      "Revoke an invite",
      "Changes nothing if the invite is already redeemed, revoked or expired.",
    ],
    previewInvite: [
      "Preview an invite",
      "Shows the organization and the role of an invite in any state, and changes nothing. `member_id` is set for a person who is already a member.",
    ],
    redeemInvite: [
      "Redeem an invite",
      "201 for a new member with the invite's role. 200 for a person who is already a member, which also counts as a use. 409 with field `status` for an invite that is redeemed, revoked or expired.",
    ],
  },
  ["Invites"],
);

const inviteIsOver = {
  code: "CONFLICT",
  message: "This invite is revoked: ask for a new invite.",
  details: { field: "status", value: "revoked" },
} as const;

/** Returns the routes of invites (ID-40). */
export function invitesHandlers(deps: Dependencies) {
  return new Elysia({ name: "invites", normalize: false })
    .use(organizationInvitesHandlers(deps))
    .use(revokeHandler(deps))
    .use(redeemHandler(deps));
}

function revokeHandler(deps: Dependencies) {
  const path = "/organizations/:organization_id/invites/:invite_id";
  return handlersAt(path, "organization_id", "invite_id").delete(
    "",
    async ({ params, status }) => {
      await revokeInvite(deps, params.organization_id, params.invite_id);
      return status(204, undefined);
    },
    {
      response: { 204: emptyResponse("The invite is revoked, or had already ended.") },
      detail: operations.revokeInvite,
    },
  );
}

function redeemHandler(deps: Dependencies) {
  return handlersAt("/users/:user_id/invites", "user_id")
    .post("/preview", ({ params, body }) => previewInvite(deps, params.user_id, body.token), {
      body: InviteTokenBody,
      response: {
        200: response(InvitePreview, "The organization and the role that the invite leads to."),
        ...bodyErrors(),
      },
      detail: operations.previewInvite,
    })
    .post(
      "/redeem",
      async ({ params, body, status, set }) => {
        const { member, isNew } = await redeemInvite(deps, params.user_id, body.token);
        const { id, organization_id } = member;
        const organization = { organization_id, member_id: id };
        setAuditNote(set, { ...(isNew && { created: id }), organization });
        return status(isNew ? 201 : 200, toMember(member, deps.roles));
      },
      {
        body: InviteTokenBody,
        response: {
          200: response(Member, "The existing membership of the person.", "organization"),
          201: response(Member, "The new member.", "created", "organization"),
          ...bodyErrors(inviteIsOver),
        },
        detail: operations.redeemInvite,
      },
    );
}

/** Returns the routes of an organization's invites. */
function organizationInvitesHandlers(deps: Dependencies) {
  const { database, roles } = deps;
  return listHandlersAt("/organizations/:organization_id/invites", "organization_id")
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
          201: response(Invite, "The invite with its token.", "details", "created"),
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
        response: { 200: pageResponse("invites", Invite) },
        detail: operations.listInvites,
      },
    );
}
