import type { Database } from "@ostiary/lib/runtime/stores/database";
import { collectedGauge } from "@ostiary/lib/runtime/telemetry";
import { Counter, type Registry } from "prom-client";
import type { ProjectionResult } from "./projection.ts";
import { type LateService, listLateServices } from "./projection-sql.ts";

/** Registers the reconciler's metrics. The gauges query the database on each scrape. */
export function createProjectionMetrics(registry: Registry, database: Database) {
  const addGauge = (name: string, help: string, pick: (late: LateService[]) => number) =>
    collectedGauge(registry, { name, help, read: () => listLateServices(database).then(pick, () => []) });
  addGauge(
    "registry_projections_outstanding",
    "Services whose newest revision is not known to be in the route store; absent while the database is unavailable.",
    (late) => late.length,
  );
  addGauge(
    "registry_projections_outstanding_age_seconds",
    "Age of the oldest outstanding projection, 0 if there is none; absent while the database is unavailable.",
    ([oldest]) => oldest?.age_seconds ?? 0,
  );
  const attempts = new Counter({
    name: "registry_projections_total",
    help: "Attempts to project a service to the route store, by result (written, unchanged, superseded, failed).",
    labelNames: ["result"],
    registers: [registry],
  });
  return {
    countAttempt: (result: ProjectionResult | "failed") => attempts.inc({ result }),
  };
}
