import type { Database } from "@ostiary/lib/runtime/stores/database";
import { collectedGauge, type Metrics } from "@ostiary/lib/runtime/telemetry";
import { PROBE_READ } from "../projection/sql.ts";
import { countPublished, type Published } from "./sql.ts";

/**
 * Registers gauges of what is published. Each scrape queries the database, and omits the gauges while the
 * database is unavailable.
 */
export function addServiceMetrics({ registry }: Pick<Metrics, "registry">, database: Database): void {
  const gauge = (name: string, help: string, pick: (published: Published) => number) =>
    collectedGauge(registry, {
      name,
      help,
      async read() {
        try {
          return pick(await database.run("count_published", countPublished, PROBE_READ));
        } catch {
          return [];
        }
      },
    });
  gauge("registry_services", "Current services.", ({ services }) => services);
  gauge(
    "registry_routes",
    "Routes of current services; each method of a path counts as one route.",
    ({ routes }) => routes,
  );
}
