import type { Model } from "../checker/model.ts";

export interface OwnershipCall {
  readonly kind: "claim" | "release";
  readonly path: string;
  readonly service: string;
  /** The `X-Request-ID` of the write. The registry stores it in the revision. */
  readonly request_id: string;
}

export type OwnershipAnswer =
  | { readonly kind: "done" }
  | { readonly kind: "conflict"; readonly owner: string };

const NOBODY = "";

/**
 * The model of RG-28 to RG-31 and RG-50: at most one service owns a route. The state is the name of the
 * owner.
 */
export const ownership: Model<string, OwnershipCall, OwnershipAnswer> = {
  name: "ownership",
  keyOf: ({ path }) => path,
  begin: () => NOBODY,
  step(owner, { kind, service }, answer) {
    const isFree = owner === NOBODY || owner === service;
    if (kind === "claim" && !isFree) {
      if (answer === null) return owner;
      return answer.kind === "conflict" && answer.owner === owner ? owner : null;
    }
    if (answer !== null && answer.kind !== "done") return null;
    if (kind === "claim") return service;
    return isFree ? NOBODY : owner;
  },
  leavesState: (_, answer) => answer?.kind === "conflict",
  textOf: (owner) => owner,
};
