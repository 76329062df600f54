import type { Operation } from "./description.ts";

/** Operations with the same tag. */
export interface Group {
  readonly name: string;
  readonly operations: readonly Operation[];
}

/** The tags of Ostiary's own operations, below the paths that its catalogs publish. */
const OWN_TAGS = new Set([
  ...["API keys", "Audit events", "Invites", "Members", "Organizations", "Roles", "Service accounts"],
  ...["Sessions", "Streams", "Usage", "Users"],
]);
const OWN_PATH = /^\/(?:user|org|member)(?:\/|$)/;
/** The paths of what makes the pages and proofs work. */
const PLUMBING = /^\/(?:audit-log|edge|portal)(?:\/|$)/;

/** Returns the rank of an operation: first the services that the organization came for, last the plumbing. */
function rankOf({ path, group }: Pick<Operation, "path" | "group">): number {
  if (PLUMBING.test(path)) return 2;
  return OWN_PATH.test(path) && OWN_TAGS.has(group) ? 1 : 0;
}

/** Groups operations by tag, in the order in which a customer needs them. */
export function groupsOf(operations: readonly Operation[]): Group[] {
  const keyOf = (operation: Operation) =>
    `${rankOf(operation)}${operation.group === "" ? 1 : 0}${operation.group}`;
  return [...Map.groupBy(operations, keyOf)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, grouped]) => ({ name: key.slice(2), operations: grouped }));
}
