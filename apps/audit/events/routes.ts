import { organizationEventSchema, type UserEvent, userEventSchema } from "@ostiary/lib/contracts/audit";
import { errorResponses, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { type TSchema, Type } from "@sinclair/typebox";
import { type DocumentDecoration, Elysia } from "elysia";
import type { Exports } from "../exports/export.ts";
import { exportFormat } from "../exports/formats.ts";
import { refuse } from "../problems.ts";
import { type EventLog, withoutPerson } from "./event.ts";
import { eventBounds } from "./filter.ts";
import {
  describedParameters,
  type EventQuery,
  eventFilter,
  eventQuerySchema,
  readProblems,
} from "./parameters.ts";
import { selectEvents } from "./queries.ts";

const wrongTime = "occurred_after must be an RFC 3339 time such as 2026-01-31T12:00:00Z; write + as %2B.";
const failures = errorResponses(
  {
    code: "VALIDATION_ERROR",
    message: wrongTime,
    details: { fields: [{ path: "occurred_after", message: wrongTime }] },
  },
  { code: "RATE_LIMITED", message: "Too many exports are running. Try again in a moment." },
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
);

const texts = {
  organization: {
    summary: "Read an organization's audit log",
    description:
      "Newest first. Filters combine with AND. With `Accept: text/csv` or `application/x-ndjson` the answer is the whole filtered log as a stream, whatever `limit` says; `starting_after` continues an export that broke off.",
    operationId: "listOrganizationAuditEvents",
  },
  user: {
    summary: "Read a person's audit log",
    description:
      "What this person did outside of organizations, newest first, with filters and exports like an organization's log.",
    operationId: "listUserAuditEvents",
  },
} as const satisfies Record<EventLog["kind"], object>;

const exportContent = {
  "text/csv": {
    schema: {
      type: "string" as const,
      description:
        "One line for each event under a line of column names; `params` and `details` as JSON. A cell that a spreadsheet would take for a formula begins with an apostrophe.",
    },
  },
  "application/x-ndjson": {
    schema: { type: "string" as const, description: "One event in JSON on each line." },
  },
};

function describeRead(kind: EventLog["kind"]): DocumentDecoration {
  return {
    ...texts[kind],
    tags: ["Audit events"],
    parameters: describedParameters(kind),
    responses: { 200: { description: "A page, or an export.", content: exportContent } },
  };
}

/** A page; its headers are those of exports too. */
function answer<Event extends TSchema>(event: Event) {
  return {
    ...pageSchema("audit_events", event),
    response_description: "A page, or an export.",
    response_headers: {
      Vary: Type.Literal("Accept", { description: "The answer's form depends on this header." }),
      "Content-Disposition": Type.String({
        description: "The file name of an export.",
        examples: ['attachment; filename="audit-events.csv"'],
      }),
    },
  };
}

export interface EventRoutesDeps {
  database: Database;
  exports: Exports;
}

/** The two reads of the log (Identity specification, Audit read). */
export function eventRoutes({ database, exports }: EventRoutesDeps) {
  /** An export, if the request asks for one in the place of a page. */
  const exportOf = ({ request, query }: Read, log: EventLog): Promise<Response> | null => {
    if (query.proof === "true") return exports.respondWithProof(request, log);
    const format = exportFormat(request.headers.get("accept"));
    if (format === null) return null;
    const filter = eventFilter(log, query);
    return exports.respond(request, format, filter, eventBounds(filter, pageRequest(query).starting_after));
  };
  const pageOf = async <Event>({ query, set }: Read, log: EventLog, shown: (event: UserEvent) => Event) => {
    const filter = eventFilter(log, query);
    const { limit, starting_after } = pageRequest(query);
    const bounds = eventBounds(filter, starting_after);
    const { items, has_more } = page(
      bounds === null ? [] : await selectEvents(database, filter, bounds),
      limit,
    );
    set.headers.vary = "Accept";
    return { audit_events: items.map(shown), has_more };
  };
  const read = <Event>(context: Read, log: EventLog, shown: (event: UserEvent) => Event) =>
    exportOf(context, log) ?? pageOf(context, log, shown);
  return new Elysia({ name: "audit-events", normalize: false })
    .get(
      "/organizations/:organization_id/audit-events",
      ({ request, params, query, set }) =>
        read({ request, query, set }, organizationLog(params), withoutPerson),
      {
        transform: ({ request, params, query }) => refuseRead(organizationLog(params), query, request),
        query: eventQuerySchema,
        response: { 200: answer(organizationEventSchema), ...failures },
        detail: describeRead("organization"),
      },
    )
    .get(
      "/users/:user_id/audit-events",
      ({ request, params, query, set }) => read({ request, query, set }, userLog(params), (event) => event),
      {
        transform: ({ request, params, query }) => refuseRead(userLog(params), query, request),
        query: eventQuerySchema,
        response: { 200: answer(userEventSchema), ...failures },
        detail: describeRead("user"),
      },
    );
}

interface Read {
  request: Request;
  query: EventQuery;
  set: { headers: { vary?: string } };
}

/** Before the schema's own check, which would tell of the query's shape alone. */
function refuseRead(log: EventLog, query: EventQuery, request: Request): void {
  refuse(readProblems(log, query, request));
}

function organizationLog(params: { organization_id: string }): EventLog {
  return { kind: "organization", id: params.organization_id };
}

function userLog(params: { user_id: string }): EventLog {
  return { kind: "user", id: params.user_id };
}
