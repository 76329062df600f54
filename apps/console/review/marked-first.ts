import type { MarkedChange } from "@ostiary/lib/domain/routes";

/** Moves the changes with marks before the changes without marks. Keeps the order otherwise. */
export function markedFirst(changes: readonly MarkedChange[]): MarkedChange[] {
  return changes.toSorted((one, other) => Number(other.marks.length > 0) - Number(one.marks.length > 0));
}
