import { notFound } from "@ostiary/lib/domain/errors";
import { isUlid } from "@ostiary/lib/domain/schemas";
import { bodyErrors, noQuery, response, setAuditNote } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import type { Dependencies } from "../dependencies.ts";
import { pathIds } from "../path-ids.ts";
import { mintSession } from "./session-commands.ts";
import { checkSessionIds, MintSessionBody, Session } from "./session-shapes.ts";

/** Paths with an empty id. A path parameter does not match an empty segment, so each path needs its own route. */
const EMPTY_ID_PATHS = [
  "/users//organizations/:organization_id/session",
  "/users/:user_id/organizations//session",
  "/users//organizations//session",
];

/** Returns the handler that creates sessions (ID-66, ID-69). No handler reads, changes, lists or revokes sessions. */
export function sessionsHandlers(deps: Dependencies) {
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
        201: response(Session, "The session.", "organization"),
        ...bodyErrors({ code: "NOT_FOUND", details: null }),
      },
      detail: {
        operationId: "mintSession",
        summary: "Mint a session",
        description:
          "A person who is an active member gets a session; everyone else gets 404. The session is valid for one hour. Older sessions stay valid.",
        tags: ["Sessions"],
      },
    },
  );
}
