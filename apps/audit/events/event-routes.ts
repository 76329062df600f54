import { contextOf, errorResponses, page, pageSchema, reasonOf } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type TSchema, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { exportFormat } from "./accept.ts";
import { describeRead } from "./describe-read.ts";
import { asRead, type ExportFormat, exportChunks } from "./event-export.ts";
import { type EventFilter, type EventLog, eventBounds } from "./event-filter.ts";
import { selectEvents, streamEvents } from "./event-queries.ts";
import { readEventQuery } from "./event-query.ts";
import { organizationEventSchema, userEventSchema } from "./event-schema.ts";
import { exportHeaders, ReaderTooSlow, streamedExport } from "./export-response.ts";
import type { ExportSlots } from "./export-slots.ts";
import type { PaceLimits } from "./reading-pace.ts";

export interface EventRoutesDeps {
  database: Database;
  exports: ExportSlots;
  pace: PaceLimits;
  log: Logger;
}

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

/** The two reads of the log (Identity specification, Audit read). */
export function eventRoutes(deps: EventRoutesDeps) {
  return new Elysia({ name: "audit-events", normalize: false })
    .get(
      "/organizations/:organization_id/audit-events",
      ({ request, params }) => read(deps, request, { kind: "organization", id: params.organization_id }),
      {
        response: { 200: answer(organizationEventSchema), ...failures },
        detail: describeRead("organization"),
      },
    )
    .get(
      "/users/:user_id/audit-events",
      ({ request, params }) => read(deps, request, { kind: "user", id: params.user_id }),
      {
        response: { 200: answer(userEventSchema), ...failures },
        detail: describeRead("user"),
      },
    );
}

async function read(deps: EventRoutesDeps, request: Request, log: EventLog) {
  const { filter, page: wanted } = readEventQuery(log, request.url);
  const format = exportFormat(request.headers.get("accept"));
  if (format !== null) return exported(deps, request, format, filter, wanted.starting_after);
  const bounds = eventBounds(filter, wanted.starting_after);
  const events = bounds === null ? [] : await selectEvents(deps.database, filter, bounds);
  const { items, has_more } = page(events, wanted.limit);
  const body = { audit_events: items.map((event) => asRead(log, event)), has_more };
  return Response.json(body, { headers: { Vary: "Accept" } });
}

/** The whole filtered log, or what of it is older than `cursor`. */
async function exported(
  { database, exports, pace, log }: EventRoutesDeps,
  request: Request,
  format: ExportFormat,
  filter: EventFilter,
  cursor: string | null,
): Promise<Response> {
  if (request.method === "HEAD") return new Response(null, { headers: exportHeaders(format) });
  const bounds = eventBounds(filter, cursor);
  const ended = await exports.take(`${filter.log.kind}:${filter.log.id}`);
  const batches = bounds === null ? nothing() : streamEvents(database, filter, bounds);
  const chunks = exportChunks(format, filter.log, batches);
  const broken = (error: unknown) => logBroken(log, contextOf(request).request_id, filter.log, error);
  return streamedExport({ format, chunks, pace, signal: request.signal, ended, broken });
}

/** The answer had begun, so its own line says nothing of this. */
function logBroken(log: Logger, request_id: string, { kind, id }: EventLog, error: unknown): void {
  const fields = { request_id, [`${kind}_id`]: id, error_message: reasonOf(error) };
  if (error instanceof ReaderTooSlow) log.warn(fields, "export broken off: its client read too slowly");
  else log.error(fields, "export broken off");
}

async function* nothing(): AsyncGenerator<never, void, void> {}
