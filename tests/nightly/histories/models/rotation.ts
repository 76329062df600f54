import type { Model } from "../checker/model.ts";

export interface RotationCall {
  readonly kind: "rotate" | "validate";
  /** The id of the first key, from which rotations made all other keys of the line. */
  readonly line: string;
  readonly key: string;
}

export type RotationOutcome =
  /** `key` is the id of the new key. */
  | { readonly kind: "rotated"; readonly key: string }
  /** The rotation was refused, because the key was already rotated. */
  | { readonly kind: "refused" }
  | { readonly kind: "validated"; readonly valid: boolean };

/** The state after a rotation without a response: the client does not know the new key. */
const UNKNOWN = "unknown";

/**
 * The model of ID-61 and ID-62 without overlap: one key of a line is valid at a time. The state is its id.
 */
export const rotation: Model<string, RotationCall, RotationOutcome> = {
  name: "rotation",
  keyOf: ({ line }) => line,
  begin: (line) => line,
  step(valid, { kind, key }, outcome) {
    const isValid = key === valid;
    if (kind === "validate") {
      if (outcome === null) return valid;
      return outcome.kind === "validated" && outcome.valid === isValid ? valid : null;
    }
    if (!isValid) return outcome === null || outcome.kind === "refused" ? valid : null;
    if (outcome === null) return UNKNOWN;
    return outcome.kind === "rotated" ? outcome.key : null;
  },
  leavesState: ({ kind }, outcome) => kind === "validate" || outcome?.kind === "refused",
  textOf: (valid) => valid,
};
