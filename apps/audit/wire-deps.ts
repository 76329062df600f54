import type { Clock } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Telemetry } from "@ostiary/lib/runtime/telemetry";

/** The stores, the clock and the telemetry that all parts of the service use. */
export interface WireDeps {
  reads: Database;
  writes: Database;
  clock: Clock;
  telemetry: Telemetry;
}
