import { Counter, Gauge, type Registry } from "prom-client";
import type { Lag, ProjectionLag } from "./lag.ts";
import type { ProjectionResult } from "./projection.ts";

/** What the reconciler tells about itself; the gauges ask the database whenever they are scraped. */
export function createProjectionMetrics(registry: Registry, lag: ProjectionLag) {
  const registers = [registry];
  const addGauge = (name: string, help: string, pick: (lag: Lag) => number) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        await lag.measure().then(
          (measured) => this.set(pick(measured)),
          () => this.remove(),
        );
      },
    });
  addGauge(
    "registry_projections_outstanding",
    "Services whose newest revision is not known to be in the route store; absent while the database is away.",
    ({ outstanding }) => outstanding,
  );
  addGauge(
    "registry_projections_outstanding_age_seconds",
    "For how long the oldest outstanding projection has been so; 0 without any, absent while the database is away.",
    ({ age_seconds }) => age_seconds,
  );
  const attempts = new Counter({
    name: "registry_projections_total",
    help: "Attempts to make the route store equal to the database for one service, by result.",
    labelNames: ["result"],
    registers,
  });
  return {
    countAttempt: (result: ProjectionResult | "failed") => attempts.inc({ result }),
  };
}
