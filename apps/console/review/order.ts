import type { MarkedChange } from "@ostiary/lib/domain/routes";

/** What opens something or breaks callers comes first, everything else in its order. */
export function markedFirst(changes: readonly MarkedChange[]): MarkedChange[] {
  return changes.toSorted((one, other) => Number(other.marks.length > 0) - Number(one.marks.length > 0));
}
