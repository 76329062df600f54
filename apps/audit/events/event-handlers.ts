import { organizationEventSchema, userEventSchema } from "@ostiary/lib/contracts/audit";
import { TIME_RULE } from "@ostiary/lib/domain/schemas";
import { describeOperations, errorResponses } from "@ostiary/lib/openapi";
import { errors, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Exports } from "../exports/export.ts";
import { type ExportFormat, exportablePage, exportFormat, TOO_MANY_EXPORTS } from "../exports/formats.ts";
import { refuse } from "../field-problems.ts";
import { type EventLog, eventForm, shownIn } from "./event.ts";
import {
  describedParameters,
  type EventQuery,
  eventFilter,
  exportProblems,
  exportQuerySchema,
  type PageQuery,
  pageProblems,
  pageQuerySchema,
} from "./event-parameters.ts";
import { selectEvents, streamEvents } from "./event-sql.ts";
import { eventBounds } from "./filter.ts";

const operations = describeOperations(
  {
    listOrganizationAuditEvents: [
      "Read an organization's audit log",
      "Newest first. Filters combine with AND. With `Accept: text/csv` or `application/x-ndjson` the response is an export, like that of the export operation, and `limit` does not apply.",
    ],
    exportOrganizationAuditEvents: [
      "Export an organization's audit log",
      "The whole filtered log as a stream, newest first. Filters combine with AND; `starting_after` continues an export that broke off.",
    ],
    listUserAuditEvents: [
      "Read a person's audit log",
      "The events of this person outside organizations, newest first. Filters and exports work as for an organization's log.",
    ],
    exportUserAuditEvents: [
      "Export a person's audit log",
      "The events of this person outside organizations, as an export like that of an organization's log.",
    ],
  },
  ["Audit events"],
);

const exportResponse = {
  description: "The export in the requested format.",
  headers: {
    "Content-Disposition": {
      description: "The name of the file.",
      schema: { type: "string" as const },
      example: 'attachment; filename="audit-events.csv"',
    },
  },
  content: {
    "text/csv": {
      schema: {
        type: "string" as const,
        description:
          "A line of column names, then one line for each event; `params` and `details` are JSON. An apostrophe stands wherever a spreadsheet would begin a formula.",
      },
    },
    "application/x-ndjson": {
      schema: { type: "string" as const, description: "One event in JSON on each line." },
    },
  },
};

const wrongTime = `occurred_after ${TIME_RULE}; write + as %2B.`;
const failures = {
  ...errors(TOO_MANY_EXPORTS),
  ...errorResponses({
    code: "VALIDATION_ERROR",
    message: wrongTime,
    details: { fields: [{ path: "occurred_after", message: wrongTime }] },
  }),
};

/**
 * The documented query of a page. Leaves out `proof` and `root`, which only the export operation documents.
 */
const describedPageQuery = Type.Omit(pageQuerySchema, ["proof", "root"]);

interface EventRoutesDeps {
  reads: Database;
  exports: Exports;
}

/** Serves the reads of the log (AU-34) and its exports (AU-81). */
export function eventHandlers({ reads, exports }: EventRoutesDeps) {
  const exportOf = (request: Request, log: EventLog, query: EventQuery, format: ExportFormat) => {
    if (query.proof === "true") {
      const asked = query.root === undefined ? null : Number(query.root);
      return exports.respondWithProof(request, log, asked);
    }
    const filter = eventFilter(log, query);
    const bounds = eventBounds(filter, pageRequest(query).starting_after);
    const batches = bounds === null ? nothing() : streamEvents(reads, filter, bounds);
    return exports.respond(request, format, { log, form: eventForm(log), batches });
  };
  const routes = new Elysia({ name: "audit-events", normalize: false });
  for (const { path, kind, event, list, exported } of LOGS) {
    const logOf = (params: Record<string, string>): EventLog => ({ kind, id: params[`${kind}_id`] ?? "" });
    routes
      .get(
        path,
        ({ request, params, query, set }) => {
          const format = query.proof === "true" ? "ndjson" : exportFormat(request.headers.get("accept"));
          if (format !== null) return exportOf(request, logOf(params), query, format);
          set.headers.vary = "Accept";
          return readPage(reads, logOf(params), query);
        },
        {
          transform: ({ request, params, query }) => refuse(pageProblems(logOf(params), query, request)),
          query: pageQuerySchema,
          response: { 200: exportablePage(pageSchema("audit_events", event)), ...failures },
          detail: { ...list, parameters: describedParameters(kind, describedPageQuery) },
        },
      )
      .get(
        `${path}/export`,
        ({ request, params, query }) => exportOf(request, logOf(params), query, query.format),
        {
          transform: ({ request, params, query }) => refuse(exportProblems(logOf(params), query, request)),
          query: exportQuerySchema,
          response: failures,
          detail: {
            ...exported,
            parameters: describedParameters(kind, exportQuerySchema),
            responses: { 200: exportResponse },
          },
        },
      );
  }
  return routes;
}

async function readPage(database: Database, log: EventLog, query: PageQuery) {
  const filter = eventFilter(log, query);
  const { limit, starting_after } = pageRequest(query);
  const bounds = eventBounds(filter, starting_after);
  const found = bounds === null ? [] : await selectEvents(database, filter, bounds);
  const { items, has_more } = page(found, limit);
  return { audit_events: items.map((event) => shownIn(log, event)), has_more };
}

const LOGS = [
  {
    path: "/organizations/:organization_id/audit-events",
    kind: "organization",
    event: organizationEventSchema,
    list: operations.listOrganizationAuditEvents,
    exported: operations.exportOrganizationAuditEvents,
  },
  {
    path: "/users/:user_id/audit-events",
    kind: "user",
    event: userEventSchema,
    list: operations.listUserAuditEvents,
    exported: operations.exportUserAuditEvents,
  },
] as const;

async function* nothing(): AsyncGenerator<never, void, void> {}
