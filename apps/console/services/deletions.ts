import type { RecordedChange } from "@ostiary/lib/contracts/registry-api";
import { listChanges } from "../registry/calls.ts";
import type { Registry } from "../registry/client.ts";

/** The changes that were read, newest first, and whether there are older ones. */
export interface ReadChanges {
  readonly changes: readonly RecordedChange[];
  readonly has_more: boolean;
}

/** Reads at most `pages` pages of changes that are older than those of `before`. */
export async function readOlder(
  registry: Registry,
  before: ReadChanges,
  pages: number,
): Promise<ReadChanges> {
  let { changes, has_more } = before;
  for (let page = 0; page < pages && has_more; page += 1) {
    const after = changes.at(-1) ?? null;
    const read = await listChanges(registry, { service: "", operator: "", after });
    changes = [...changes, ...read.changes];
    has_more = read.has_more;
  }
  return { changes, has_more };
}

/** Returns the deletion of each service whose newest change is a deletion, newest first. */
export function deletionsIn(changes: readonly RecordedChange[]): RecordedChange[] {
  const newest = new Map<string, RecordedChange>();
  for (const change of changes) {
    const known = newest.get(change.service);
    if (known === undefined || known.revision < change.revision) newest.set(change.service, change);
  }
  return [...newest.values()].filter(({ action }) => action === "delete");
}
