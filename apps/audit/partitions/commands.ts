import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { makePartition, missingPartitions, wantedPartitions } from "./partition-sql.ts";

/**
 * Creates the partitions that are missing at `nowMs` and returns their names. Several replicas may call this function
 * at once.
 */
export async function makePartitions(database: Database, nowMs: number): Promise<string[]> {
  const missing = await missingPartitions(database, wantedPartitions(nowMs));
  if (missing.length === 0) return [];
  return database.transaction("create_partitions", async (tx) => {
    const made: string[] = [];
    for (const partition of missing) {
      if (await makePartition(tx, partition)) made.push(partition.name);
    }
    return made;
  });
}

interface PartitionKeeperDeps {
  database: Database;
  log: Logger;
  clock: Clock;
}

const INTERVAL_MS = 60 * 60 * 1000;
/** Delay after the first failed attempt. Each further failure makes the delay longer, up to the normal interval. */
const RETRY_MS = INTERVAL_MS / 8;

/** Creates missing monthly partitions: once at `start`, which rejects on failure, then every hour. */
export class PartitionKeeper {
  readonly #deps: PartitionKeeperDeps;
  readonly #loop: Loop;
  #keeping: Promise<void> | undefined;

  constructor(deps: PartitionKeeperDeps) {
    this.#deps = deps;
    const { clock, log } = deps;
    this.#loop = new Loop({
      task: () => this.keep(),
      pauseMs: INTERVAL_MS,
      retryMs: RETRY_MS,
      onFailure: (error) =>
        log.error({ err: error }, "the audit service could not maintain its partitions and will try again"),
      clock,
    });
  }

  async start(): Promise<void> {
    await this.keep();
    this.#loop.start(INTERVAL_MS);
  }

  /** Creates missing partitions; concurrent callers share one run. */
  keep(): Promise<void> {
    this.#keeping ??= this.#run().finally(() => {
      this.#keeping = undefined;
    });
    return this.#keeping;
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#keeping?.catch(() => {}); // the caller of `keep` gets the error
  }

  async #run(): Promise<void> {
    const { database, clock, log } = this.#deps;
    const made = await makePartitions(database, clock.now());
    if (made.length > 0) log.info({ partitions: made }, "created audit partitions");
  }
}
