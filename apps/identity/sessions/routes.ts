import { notFound } from "@ostiary/lib/errors";
import { isUlid } from "@ostiary/lib/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { bodyErrors, setAuditNote } from "../answers.ts";
import type { Directory } from "../directory.ts";
import { noQuery, pathIds } from "../fields.ts";
import { mintSession } from "./mint.ts";
import { checkSessionIds, Session } from "./session.ts";

/** Sessions (Identity specification, Users): minted, and never listed, named or revoked. */
export function sessionsRoutes(directory: Directory) {
  return new Elysia({ name: "sessions", normalize: false }).post(
    "/users/:user_id/organizations/:organization_id/session",
    async ({ params, status, set }) => {
      const { user_id, organization_id } = params;
      checkSessionIds(user_id, organization_id);
      if (!isUlid(user_id) || !isUlid(organization_id)) throw notFound();
      const session = await mintSession(directory, user_id, organization_id);
      setAuditNote(set, { organization: { organization_id, member_id: session.member_id } });
      return status(201, session);
    },
    {
      params: pathIds("user_id", "organization_id"),
      query: noQuery,
      body: Type.Object({}, { additionalProperties: false, description: "Nothing, or an empty object." }),
      response: { 201: Session, ...bodyErrors("NOT_FOUND") },
      detail: {
        summary: "Mint a session",
        description:
          "For a person who is an active member; 404 for everyone else. Valid for one hour; older sessions stay valid.",
        operationId: "mintSession",
        tags: ["Sessions"],
      },
    },
  );
}
