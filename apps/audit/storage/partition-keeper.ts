import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { keepPartitions } from "./partition-queries.ts";

export interface PartitionKeeperDeps {
  database: Database;
  log: Logger;
  /** Epoch milliseconds. */
  clock: () => number;
  interval_ms: number;
}

/** Keeps the monthly partitions: once at `start`, which rejects when it fails, then every `interval_ms`. */
export class PartitionKeeper {
  readonly #deps: PartitionKeeperDeps;
  #timer: ReturnType<typeof setInterval> | undefined;
  #keeping: Promise<void> | undefined;

  constructor(deps: PartitionKeeperDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    await this.keep();
    this.#timer = setInterval(() => void this.#keepLogged(), this.#deps.interval_ms);
  }

  /** Makes what is missing now; callers at the same time share one run. */
  keep(): Promise<void> {
    this.#keeping ??= this.#run().finally(() => {
      this.#keeping = undefined;
    });
    return this.#keeping;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#keeping?.catch(() => {}); // whoever asked for the run has its error
  }

  async #run(): Promise<void> {
    const { database, clock, log } = this.#deps;
    const made = await keepPartitions(database, clock());
    if (made.length > 0) log.info({ partitions: made }, "audit partitions made");
  }

  async #keepLogged(): Promise<void> {
    try {
      await this.keep();
    } catch (error) {
      this.#deps.log.error({ err: error }, "audit partitions could not be kept; tried again later");
    }
  }
}
