import type { Metrics } from "@ostiary/lib/runtime/telemetry";
import { Counter } from "prom-client";

const INTENT_RESULTS = ["created", "existing"] as const;
const OUTCOME_RESULTS = ["applied", "already_final", "not_found"] as const;

/** Counts the results of writes (OP-50). */
export interface WriteMetrics {
  intent(result: (typeof INTENT_RESULTS)[number]): void;
  outcome(result: (typeof OUTCOME_RESULTS)[number]): void;
}

export function createWriteMetrics({ registry }: Metrics): WriteMetrics {
  const intents = new Counter({
    name: "audit_intents_total",
    help: "Intents by result: created, or existing if the event existed already.",
    labelNames: ["result"] as const,
    registers: [registry],
  });
  const outcomes = new Counter({
    name: "audit_outcomes_total",
    help: "Outcomes by result: applied, already_final, or not_found if the log has no event of the request.",
    labelNames: ["result"] as const,
    registers: [registry],
  });
  for (const result of INTENT_RESULTS) intents.inc({ result }, 0);
  for (const result of OUTCOME_RESULTS) outcomes.inc({ result }, 0);
  return { intent: (result) => intents.inc({ result }), outcome: (result) => outcomes.inc({ result }) };
}
