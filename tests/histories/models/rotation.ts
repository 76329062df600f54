import type { Model } from "../checker/model.ts";

export interface RotationCall {
  readonly kind: "rotate" | "validate";
  /** The first key of a line of rotations. */
  readonly line: string;
  readonly key: string;
}

export type RotationAnswer =
  /** The id of the new key. */
  | { readonly kind: "rotated"; readonly key: string }
  /** The key was rotated before. */
  | { readonly kind: "refused" }
  | { readonly kind: "validated"; readonly valid: boolean };

/** The valid key after a rotation whose answer was not seen. */
const UNKNOWN = "unknown";

/** One key of a line is valid at a time: the claims of ID-61 and ID-62 without overlap. */
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
