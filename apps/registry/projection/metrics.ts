import type { Database } from "@ostiary/lib/stores/database";
import { Counter, Gauge, type Registry } from "prom-client";
import type { ProjectionResult } from "./projection.ts";
import { countOutstanding } from "./queries.ts";

/** What the reconciler tells about itself; the gauge asks the database whenever it is scraped. */
export function createProjectionMetrics(registry: Registry, database: Database) {
  const registers = [registry];
  new Gauge({
    name: "registry_projections_outstanding",
    help: "Services whose newest revision is not known to be in the route store; NaN while the database is away.",
    registers,
    async collect() {
      this.set(await countOutstanding(database).catch(() => Number.NaN));
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
