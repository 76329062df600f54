import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations({
  listRevisions: [
    "List the revisions of a service",
    "The revisions of a current or deleted service, newest first.",
  ],
  getRevision: ["Get a revision", "The config is null when the revision deleted the service."],
  diffRevisions: [
    "Compare two revisions",
    "The changes from the first revision to the second. A deleted service counts as empty.",
  ],
  restoreRevision: [
    "Restore a revision",
    "Appends a new revision with the same config, if it passes today's rules. A deleted service can be restored too, but not a revision that deleted it.",
  ],
});
