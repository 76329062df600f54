import { describeOperations } from "@ostiary/lib/openapi";

export const NDJSON = "application/x-ndjson";

export const operations = describeOperations({
  listChanges: [
    "List the writes of all services",
    "Newest first, with the operator, reason and link of each write. Filters combine with AND.",
  ],
  exportChanges: [
    "Export the writes of all services",
    "The whole filtered list as a stream of NDJSON, newest first.",
  ],
});

export const exportResponse = {
  description: "The changes, one JSON object on each line.",
  content: {
    [NDJSON]: { schema: { type: "string" as const, description: "One change in JSON on each line." } },
  },
};
