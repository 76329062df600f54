import type { ValidationResult } from "@ostiary/lib/contracts/admission";
import { collectedCounter, type Metrics } from "@ostiary/lib/runtime/telemetry";

const KINDS = ["credential", "person"] as const;
type Kind = (typeof KINDS)[number];

/** Counts the results of validations. */
export interface ValidationMetrics {
  answered(kind: Kind, result: ValidationResult): ValidationResult;
}

export function createValidationMetrics({ registry }: Pick<Metrics, "registry">): ValidationMetrics {
  const counts = { credential: { valid: 0, invalid: 0 }, person: { valid: 0, invalid: 0 } };
  collectedCounter(registry, {
    name: "identity_validations_total",
    help: "Validations by kind (credential, or person of a token) and by result (valid, invalid).",
    read: () =>
      KINDS.flatMap((kind) =>
        Object.entries(counts[kind]).map(([result, value]) => ({ labels: { kind, result }, value })),
      ),
  });
  return {
    answered(kind, result) {
      counts[kind][result.valid ? "valid" : "invalid"] += 1;
      return result;
    },
  };
}
