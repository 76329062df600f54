import type { Model } from "../checker/model.ts";

export interface RotationCall {
  readonly kind: "rotate" | "validate";
  /** The id of the first key, from which rotations made all other keys of the line. */
  readonly line: string;
  readonly key: string;
}

export type RotationAnswer =
  /** `key` is the id of the new key. */
  | { readonly kind: "rotated"; readonly key: string }
  /** The rotation was refused, because the key was already rotated. */
  | { readonly kind: "refused" }
  | { readonly kind: "validated"; readonly valid: boolean };

/** The state after a rotation without an answer: the client does not know the new key. */
const UNKNOWN = "unknown";

/**
 * The model of ID-61 and ID-62 without overlap: one key of a line is valid at a time. The state is its id.
 */
export const rotation: Model<string, RotationCall, RotationAnswer> = {
  name: "rotation",
  keyOf: ({ line }) => line,
  begin: (line) => line,
  step(valid, { kind, key }, answer) {
    const isValid = key === valid;
    if (kind === "validate") {
      if (answer === null) return valid;
      return answer.kind === "validated" && answer.valid === isValid ? valid : null;
    }
    if (!isValid) return answer === null || answer.kind === "refused" ? valid : null;
    if (answer === null) return UNKNOWN;
    return answer.kind === "rotated" ? answer.key : null;
  },
  leavesState: ({ kind }, answer) => kind === "validate" || answer?.kind === "refused",
  textOf: (valid) => valid,
};
