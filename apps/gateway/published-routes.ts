import { type Clock, inSlices, Loop } from "@ostiary/lib/async";
import { skippedService } from "@ostiary/lib/contracts/gateway-instance";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { tryJson } from "@ostiary/lib/domain/json";
import {
  type CallBounds,
  type RouteTable,
  RouteTableBuilder,
  type StoredServiceConfig,
  validateStoredInSteps,
} from "@ostiary/lib/domain/routes";
import {
  type RouteChange,
  type RouteStore,
  type RouteWatch,
  routeStoreBootFailure,
} from "@ostiary/lib/runtime/stores/route-store";
import type { Logger } from "@ostiary/lib/runtime/telemetry";

const START_TIMEOUT_MS = 5_000;
const RETRY_MS = 250;
/** The pause between two loads, so that changes in quick succession share one load. */
const GAP_MS = 10;
/** The time slice after which a load yields to requests. */
const SLICE_MS = 2;

export interface LoadedRoutes {
  /** The newest revision of the route store that the load includes. */
  store_revision: number;
  services: number;
  routes: number;
  skipped: { service: string; reason: string }[];
}

/**
 * The published routes: read completely at the start, and then updated by a watch. After an interruption of
 * the watch, all routes are read again. Each load builds a new table and replaces the served table in one
 * step. A service with an invalid value is skipped with a warning, and does not affect other services. After
 * a failed load, the gateway keeps the current table and retries.
 */
export class PublishedRoutes {
  readonly #store: RouteStore;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #reloading: Loop;
  readonly #builder: RouteTableBuilder;
  #table: RouteTable;
  /** Checksum of the value of each key, for served and left-out services. */
  #known = new Map<string, bigint | number>();
  /** The newest revision of the route store that the table includes. */
  #revision = 0;
  /** The latest change of each key that the watch has reported since the last load. */
  #reported = new Map<string, RouteChange>();
  /** Whether the watch may have missed changes, so that the next load must read all routes. */
  #isUnread = true;
  #watch: RouteWatch | null = null;
  #skipped = new Map<string, string>();
  readonly #onLoad: (loaded: LoadedRoutes) => void;
  #loadedAtMs = 0;

  constructor(
    store: RouteStore,
    log: Logger,
    clock: Clock,
    onLoad: (loaded: LoadedRoutes) => void = () => {},
    defaults?: CallBounds,
  ) {
    this.#builder = new RouteTableBuilder(defaults);
    this.#table = this.#builder.take();
    this.#onLoad = onLoad;
    this.#store = store;
    this.#log = log;
    this.#clock = clock;
    this.#reloading = new Loop({
      task: async (stopping) => {
        if (this.#isUnread || this.#reported.size > 0) await this.#load(stopping);
      },
      gapMs: GAP_MS,
      retryMs: RETRY_MS,
      onFailure: (error) =>
        log.warn(
          { error_message: reasonOf(error) },
          "the gateway could not reload its routes and keeps serving the current routes",
        ),
      clock,
    });
  }

  get table(): RouteTable {
    return this.#table;
  }

  get loadedAtMs(): number {
    return this.#loadedAtMs;
  }

  /** Whether the route store may hold changes that this gateway missed or could not read. */
  get stale(): boolean {
    return this.#isUnread;
  }

  get skippedCount(): number {
    return this.#skipped.size;
  }

  /** Starts the watch before the first load, so that no change is missed. Rejects if the store is unavailable. */
  async start(): Promise<void> {
    try {
      await this.#store.ping(START_TIMEOUT_MS);
      this.#watch = await this.#store.watch(ROUTES_PREFIX, {
        changed: (changes) => this.#receive(changes),
        interrupted: () => {
          // Discard the reported changes: the next load reads all routes.
          this.#reported.clear();
          this.#isUnread = true;
          this.#reloading.wake();
        },
      });
      await this.#load(() => false);
      this.#reloading.start();
    } catch (error) {
      throw routeStoreBootFailure(error).failure;
    }
  }

  async stop(): Promise<void> {
    await this.#watch?.close();
    await this.#reloading.stop();
  }

  #receive(changes: readonly RouteChange[]): void {
    for (const change of changes) {
      const later = (this.#reported.get(change.key)?.revision ?? 0) > change.revision;
      if (!later) this.#reported.set(change.key, change);
    }
    this.#reloading.wake();
  }

  async #load(stopping: () => boolean): Promise<void> {
    try {
      const changes = this.#isUnread ? await this.#readAll() : this.#takeReported();
      const steps = this.#takeIn(changes);
      if (!(await inSlices(steps, { sliceMs: SLICE_MS, stopping, clock: this.#clock }))) return;
    } catch (error) {
      this.#isUnread = true;
      throw error;
    }
    const table = this.#builder.take();
    this.#table = table;
    this.#loadedAtMs = this.#clock.now();
    for (const warning of table.warnings) this.#log.warn({}, warning);
    this.#log.info({ ...table.counts }, "routes loaded");
    const skipped = Array.from(this.#skipped, ([service, reason]) => skippedService(service, reason));
    skipped.sort((a, b) => (a.service < b.service ? -1 : 1));
    this.#onLoad({ store_revision: this.#revision, ...table.counts, skipped });
  }

  /**
   * Returns all values of the store, a deletion for each key that no longer exists, and newer changes of the
   * watch.
   */
  async #readAll(): Promise<RouteChange[]> {
    this.#isUnread = false;
    const { revision, entries } = await this.#store.list(ROUTES_PREFIX);
    const gone = new Set(this.#known.keys());
    for (const { key } of entries) gone.delete(key);
    this.#revision = revision;
    return [...[...gone].map((key) => ({ key, value: null, revision })), ...entries, ...this.#takeReported()];
  }

  /** Returns the reported changes that are newer than the table, and clears the list of reported changes. */
  #takeReported(): RouteChange[] {
    const changes = [...this.#reported.values()].filter(({ revision }) => revision > this.#revision);
    this.#reported.clear();
    for (const { revision } of changes) this.#revision = Math.max(this.#revision, revision);
    return changes;
  }

  /** Applies `changes`, and frees the value of each one before the next is compiled. */
  *#takeIn(changes: RouteChange[]): Generator<void, void> {
    changes.reverse();
    for (let change = changes.pop(); change !== undefined; change = changes.pop()) {
      const { key, value } = change;
      const name = key.slice(ROUTES_PREFIX.length);
      if (value === null) {
        this.#skipped.delete(name);
        yield* this.#builder.delete(name);
        this.#known.delete(key);
        continue;
      }
      const checksum = Bun.hash(value);
      if (this.#known.get(key) === checksum) continue;
      const service = yield* this.#read(name, value);
      yield* service === null ? this.#builder.delete(name) : this.#builder.put(name, service);
      this.#known.set(key, checksum);
    }
  }

  *#read(name: string, value: string): Generator<void, StoredServiceConfig | null> {
    const parsed = tryJson(value);
    yield;
    const result = parsed === undefined ? null : yield* validateStoredInSteps(name, parsed);
    yield;
    if (result?.ok) {
      this.#skipped.delete(name);
      return result.service;
    }
    const problem =
      result === null ? "its value is not JSON, or is nested too deeply" : "its value is not valid";
    this.#log.warn(
      { route_service: name, fields: result?.fields },
      `the gateway skipped a service: ${problem}`,
    );
    const [first] = result?.fields ?? [];
    const reason = first === undefined ? problem : `${first.path}: ${first.message}`;
    this.#skipped.set(name, reason);
    return null;
  }
}
