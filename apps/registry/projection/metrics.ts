import { collectedGauge } from "@ostiary/lib/runtime/telemetry";
import { Counter, type Registry } from "prom-client";
import type { ProjectionResult } from "./projection.ts";
import type { Lag, ProjectionLag } from "./projection-lag.ts";

/** Registers the reconciler's metrics. The gauges query the database on each scrape. */
export function createProjectionMetrics(registry: Registry, lag: ProjectionLag) {
  const addGauge = (name: string, help: string, pick: (lag: Lag) => number) =>
    collectedGauge(registry, { name, help, read: () => lag.measure().then(pick, () => []) });
  addGauge(
    "registry_projections_outstanding",
    "Services whose newest revision is not known to be in the route store; absent while the database is unavailable.",
    ({ outstanding }) => outstanding,
  );
  addGauge(
    "registry_projections_outstanding_age_seconds",
    "Age of the oldest outstanding projection, 0 if there is none; absent while the database is unavailable.",
    ({ age_seconds }) => age_seconds,
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
