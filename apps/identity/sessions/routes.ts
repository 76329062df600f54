import { notFound } from "@ostiary/lib/domain/errors";
import { isUlid } from "@ostiary/lib/domain/schemas";
import { noQuery } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { answer, bodyErrors, setAuditNote } from "../answers.ts";
import type { Dependencies } from "../dependencies.ts";
import { pathIds } from "../path-ids.ts";
import { mintSession } from "./commands.ts";
import { checkSessionIds, MintSessionBody, Session } from "./session.ts";

/** An empty id makes an empty path segment, which a parameter does not match: each needs a route of its own. */
const EMPTY_ID_PATHS = [
  "/users//organizations/:organization_id/session",
  "/users/:user_id/organizations//session",
  "/users//organizations//session",
];

/** Sessions (Identity specification, Users): minted, and never listed, named or revoked. */
export function sessionsRoutes(deps: Dependencies) {
  const app = new Elysia({ name: "sessions", normalize: false });
  for (const path of EMPTY_ID_PATHS) {
    app.post(
      path,
      ({ params }: { params?: Record<string, string> }) =>
        checkSessionIds(params?.user_id ?? "", params?.organization_id ?? ""),
      { detail: { hide: true } },
    );
  }
  return app.post(
    "/users/:user_id/organizations/:organization_id/session",
    async ({ params, status, set }) => {
      const { user_id, organization_id } = params;
      checkSessionIds(user_id, organization_id);
      if (!isUlid(user_id) || !isUlid(organization_id)) throw notFound();
      const session = await mintSession(deps, user_id, organization_id);
      setAuditNote(set, { organization: { organization_id, member_id: session.member_id } });
      return status(201, session);
    },
    {
      params: pathIds("user_id", "organization_id"),
      query: noQuery,
      body: MintSessionBody,
      response: {
        201: answer(Session, "The session.", "organization"),
        ...bodyErrors({ code: "NOT_FOUND", details: null }),
      },
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
