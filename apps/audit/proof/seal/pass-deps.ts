import type { Clock } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { SealMemory } from "./read-pass.ts";

export interface PassDeps {
  /** Connections for reads. PostgreSQL plans each of their statements for its actual parameter values. */
  reads: Database;
  writes: Database;
  memory: SealMemory;
  origin: string;
  clock: Clock;
  log: Pick<Logger, "error">;
  /** The replica that seals; null for a job, which replaces none. */
  holder: string | null;
}
