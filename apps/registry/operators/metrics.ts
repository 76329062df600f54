import { Counter, type Registry } from "prom-client";

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
