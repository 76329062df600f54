import { describeOperations } from "@ostiary/lib/openapi";

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

/** The summary and the description of the operation that reads a page, by the kind of log. */
export const pageOperations = {
  organization: operations.listOrganizationAuditEvents,
  user: operations.listUserAuditEvents,
};

/** The summary and the description of the operation that exports a log, by the kind of log. */
export const exportOperations = {
  organization: operations.exportOrganizationAuditEvents,
  user: operations.exportUserAuditEvents,
};

export const exportResponse = {
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
