import type { Revision } from "@ostiary/lib/contracts/registry-api";
import type { revisions } from "../tables.ts";

/** An entry of a service's history. */
export type RevisionRow = typeof revisions.$inferSelect;

export function showRevision({ created_at, ...row }: RevisionRow): Revision {
  return { ...row, created_at: created_at.toISOString() };
}
