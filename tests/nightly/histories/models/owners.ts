import type { Model } from "../checker/model.ts";

export type OwnerCall =
  | { readonly kind: "promote" | "demote" | "remove"; readonly organization: string; readonly member: string }
  | { readonly kind: "read"; readonly organization: string };

export type OwnerOutcome =
  | { readonly kind: "done" }
  /** The write was refused, because the member is the last owner. */
  | { readonly kind: "refused" }
  /** The member does not exist, because it was already removed. */
  | { readonly kind: "missing" }
  /** `owners` has the ids of the members with the role owner, sorted. */
  | { readonly kind: "read"; readonly owners: readonly string[] };

/** The state: the ids of all existing members, sorted, and whether each is an owner. */
type Members = readonly (readonly [member: string, is_owner: boolean])[];

/**
 * Returns the model of ID-37 and ID-101: the last owner stays an owner. At first, all `members` are owners.
 */
export function ownersOf(members: readonly string[]): Model<Members, OwnerCall, OwnerOutcome> {
  return {
    name: "last owner",
    keyOf: ({ organization }) => organization,
    begin: () => members.toSorted().map((member) => [member, true]),
    step: (state, call, outcome) =>
      call.kind === "read" ? read(state, outcome) : change(state, call.kind, call.member, outcome),
    leavesState: ({ kind }, outcome) => kind === "read" || (outcome !== null && outcome.kind !== "done"),
    textOf: (state) => JSON.stringify(state),
  };
}

function change(
  state: Members,
  kind: "promote" | "demote" | "remove",
  member: string,
  outcome: OwnerOutcome | null,
): Members | null {
  const expected = expectedOutcome(state, kind, member);
  if (outcome !== null && outcome.kind !== expected) return null;
  if (expected !== "done") return state;
  if (kind === "remove") return state.filter(([id]) => id !== member);
  return state.map(([id, is_owner]) => [id, id === member ? kind === "promote" : is_owner]);
}

function expectedOutcome(state: Members, kind: "promote" | "demote" | "remove", member: string) {
  const known = state.find(([id]) => id === member);
  if (known === undefined) return "missing";
  const isLast = known[1] && ownersIn(state).length === 1;
  return isLast && kind !== "promote" ? "refused" : "done";
}

function ownersIn(state: Members): string[] {
  return state.flatMap(([id, is_owner]) => (is_owner ? [id] : []));
}

function read(state: Members, outcome: OwnerOutcome | null): Members | null {
  if (outcome === null) return state;
  const isRight = outcome.kind === "read" && Bun.deepEquals([...outcome.owners], ownersIn(state));
  return isRight ? state : null;
}
