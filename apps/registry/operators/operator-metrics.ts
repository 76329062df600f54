import { collectedGauge } from "@ostiary/lib/runtime/telemetry";
import { Counter, type Registry } from "prom-client";
import type { Operators } from "./operators.ts";
import type { OperatorProvider } from "./provider.ts";

/** Registers the counter of writes, and returns the function that counts the services of one write. */
export function createWriteCounter(registry: Registry): (operator: string, services: number) => void {
  const writes = new Counter({
    name: "registry_service_writes_total",
    help: "Services that were written or deleted, by operator.",
    labelNames: ["operator"],
    registers: [registry],
  });
  return (operator, services) => writes.inc({ operator }, services);
}

/** Registers the gauges for an operators file that is not valid, and for keys that do not load. */
export function addOperatorMetrics(
  registry: Registry,
  operators: Pick<Operators, "problem">,
  provider: Pick<OperatorProvider, "failing"> | null,
): void {
  collectedGauge(registry, {
    name: "registry_operators_file_invalid",
    help: "1 while OPERATORS_FILE is not valid and the operators of the last valid file are in use, else 0.",
    read: () => (operators.problem === null ? 0 : 1),
  });
  collectedGauge(registry, {
    name: "registry_operator_keys_failing",
    help: "1 while the latest request for the keys of OPERATOR_JWKS_URI failed, else 0.",
    read: () => (provider?.failing() === true ? 1 : 0),
  });
}
