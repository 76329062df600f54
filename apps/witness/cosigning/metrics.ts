import type { Metrics } from "@ostiary/lib/runtime/telemetry";
import { Counter } from "prom-client";

/** The reasons for which tree heads are refused. */
export const REFUSALS = [
  "malformed",
  "unknown_log",
  "unknown_key",
  "other_size",
  "fork",
  "wrong_proof",
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** Counts the work of a witness. */
export interface WitnessMetrics {
  cosigned(): void;
  refused(reason: Refusal): void;
  failed(): void;
}

export function createWitnessMetrics({ registry }: Metrics): WitnessMetrics {
  const registers = [registry];
  const cosigned = new Counter({
    name: "witness_cosignatures_total",
    help: "Checkpoints that the witness cosigned.",
    registers,
  });
  const refused = new Counter({
    name: "witness_refusals_total",
    help: "Checkpoints that the witness refused, by reason.",
    labelNames: ["reason"],
    registers,
  });
  for (const reason of REFUSALS) refused.inc({ reason }, 0);
  const failed = new Counter({
    name: "witness_state_failures_total",
    help: "Checkpoints that were not cosigned because the state file could not be written.",
    registers,
  });
  return {
    cosigned: () => cosigned.inc(),
    refused: (reason) => refused.inc({ reason }),
    failed: () => failed.inc(),
  };
}
