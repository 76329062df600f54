import { Counter, Gauge, type Registry } from "prom-client";
import type { Lag, ProjectionLag } from "./lag.ts";
import type { ProjectionResult } from "./projection.ts";

/** What the reconciler tells about itself; the gauges ask the database whenever they are scraped. */
export function createProjectionMetrics(registry: Registry, lag: ProjectionLag) {
  const registers = [registry];
  const setOrRemove = (gauge: Gauge, pick: (lag: Lag) => number) =>
    lag.measure().then(
      (measured) => gauge.set(pick(measured)),
      () => gauge.remove(),
    );
  new Gauge({
    name: "registry_projections_outstanding",
    help: "Services whose newest revision is not known to be in the route store; absent while the database is away.",
    registers,
    collect() {
      return setOrRemove(this, ({ outstanding }) => outstanding);
    },
  });
  new Gauge({
    name: "registry_projections_outstanding_age_seconds",
    help: "For how long the oldest outstanding projection has been so; 0 without any, absent while the database is away.",
    registers,
    collect() {
      return setOrRemove(this, ({ age_seconds }) => age_seconds);
    },
  });
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
