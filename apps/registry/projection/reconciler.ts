import { Loop } from "@ostiary/lib/async";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { ServiceName } from "@ostiary/lib/domain/routes";
import { Value } from "@sinclair/typebox/value";
import { Projection, type ProjectionDeps, type ProjectionResult } from "./projection.ts";
import { type Desired, listDigests, listOutstanding } from "./projection-sql.ts";

interface ReconcilerDeps extends ProjectionDeps {
  /** The pause before a retry, and between searches for projections that other replicas left outstanding. */
  intervalMs: number;
  /** The pause between two comparisons of all keys with the database. */
  fullIntervalMs: number;
  onAttempt: (result: ProjectionResult | "failed") => void;
}

/** The maximum number of projections in flight. */
const CONCURRENCY = 8;

/**
 * Keeps the route store equal to the database. Projects committed writes as soon as it is woken, oldest first, and
 * periodically compares all keys (RG-79, RG-80). Writers never wait for the reconciler. Several replicas can run at
 * once.
 */
export class Reconciler {
  readonly #deps: ReconcilerDeps;
  readonly #projection: Projection;
  readonly #projecting: Loop;
  readonly #comparing: Loop;

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
    this.#projection = new Projection(deps);
    const { intervalMs, fullIntervalMs, log } = deps;
    const onFailure = (what: string) => (err: unknown, retry_in_ms: number) =>
      log.warn({ err, retry_in_ms }, `${what} failed and will be tried again`);
    this.#projecting = new Loop({
      task: () => this.projectOutstanding(),
      pauseMs: intervalMs,
      retryMs: intervalMs,
      onFailure: onFailure("projection to the route store"),
    });
    this.#comparing = new Loop({
      task: () => this.compareAll(),
      pauseMs: fullIntervalMs,
      retryMs: intervalMs,
      onFailure: onFailure("comparison with the route store"),
    });
  }

  start(): void {
    this.#projecting.start();
    this.#comparing.start();
  }

  /** Wakes the reconciler after a commit. Returns at once. */
  wake(): void {
    this.#projecting.wake();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#projecting.stop(), this.#comparing.stop()]);
  }

  /**
   * Tries every outstanding projection once. Rejects if any failed, and stops early if a whole batch failed.
   */
  async projectOutstanding(): Promise<void> {
    const failures: unknown[] = [];
    let last: Pick<Desired, "name" | "fence"> | undefined = { name: "", fence: 0 };
    while (last !== undefined) {
      const batch: Desired[] = await listOutstanding(this.#deps.database, last, CONCURRENCY);
      const failed = await this.#attempt(batch, (desired) => this.#projection.project(desired));
      failures.push(...failed);
      last = failed.length < batch.length ? batch.at(-1) : undefined;
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Compares every key under the prefix with the database, and repairs the keys that differ. */
  async compareAll(): Promise<void> {
    const { database, routeStore } = this.#deps;
    const { entries } = await routeStore.list(ROUTES_PREFIX);
    const desired = await listDigests(database);
    const wrong = new Set(desired.keys());
    for (const { key, value } of entries) {
      const name = key.slice(ROUTES_PREFIX.length);
      if (desired.get(name) === Bun.SHA256.hash(value, "hex")) wrong.delete(name);
      else wrong.add(name);
    }
    const names = [...wrong];
    for (let start = 0; start < names.length; start += CONCURRENCY) {
      const batch = names.slice(start, start + CONCURRENCY);
      const [failure] = await this.#attempt(batch, (name) => this.#repair(name));
      if (failure !== undefined) throw failure;
    }
  }

  /**
   * Repairs one key. Deletes a key that is not a valid service name; the deletion needs no fence, since no
   * later write can use the key.
   */
  async #repair(name: string): Promise<ProjectionResult> {
    if (Value.Check(ServiceName, name)) return this.#projection.repair(name);
    await this.#deps.routeStore.delete(ROUTES_PREFIX + name);
    return "written";
  }

  /** Runs `work` for all items of the batch concurrently, and reports each result. Returns the errors. */
  async #attempt<Item>(
    batch: readonly Item[],
    work: (item: Item) => Promise<ProjectionResult>,
  ): Promise<unknown[]> {
    const results = await Promise.allSettled(batch.map(work));
    for (const result of results) {
      this.#deps.onAttempt(result.status === "fulfilled" ? result.value : "failed");
    }
    return results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  }
}
