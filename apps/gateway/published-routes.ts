import { type Clock, inSlices, Loop } from "@ostiary/lib/async";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store";
import { parseJson } from "@ostiary/lib/domain/json";
import {
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
/** Between two loads: changes that follow one another closely are taken in together. */
const GAP_MS = 10;
/** What a load may take of the time of requests before they have their turn. */
const SLICE_MS = 2;
/** Of the reason why a service was left out: the log has all of it. */
const REASON_LENGTH_MAX = 300;

/** What a load came to. */
export interface LoadedRoutes {
  /** The store's revision up to which all was taken in. */
  store_revision: number;
  services: number;
  routes: number;
  /** Services that were left out, in the order of their names. */
  skipped: { service: string; reason: string }[];
}

/**
 * The published routes: loaded whole at start, then changed by what the watch tells, and swapped at once. What
 * the watch may have missed is found by reading all again. A service value that is not valid is left out with a
 * warning and costs no other service its routes; a load that fails leaves the current table in place and is tried
 * again.
 */
export class PublishedRoutes {
  readonly #store: RouteStore;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #reloading: Loop;
  #builder = new RouteTableBuilder();
  #table: RouteTable = this.#builder.take();
  /** A checksum of the value of each key that was taken in, whether it is served or left out. */
  #known = new Map<string, bigint | number>();
  /** The revision up to which all was taken in. */
  #revision = 0;
  /** What the watch told since, the latest of each key. */
  #told = new Map<string, RouteChange>();
  /** Whether changes may have passed unseen. */
  #isUnread = true;
  #watch: RouteWatch | null = null;
  /** Why each service was left out that was. */
  #skipped = new Map<string, string>();
  readonly #onLoad: (loaded: LoadedRoutes) => void;
  #loaded_at_ms = 0;

  constructor(
    store: RouteStore,
    log: Logger,
    clock: Clock,
    onLoad: (loaded: LoadedRoutes) => void = () => {},
  ) {
    this.#onLoad = onLoad;
    this.#store = store;
    this.#log = log;
    this.#clock = clock;
    this.#reloading = new Loop({
      task: async (stopping) => {
        if (this.#isUnread || this.#told.size > 0) await this.#load(stopping);
      },
      gap_ms: GAP_MS,
      retry_ms: RETRY_MS,
      onFailure: (error) =>
        log.warn({ error_message: reasonOf(error) }, "routes not reloaded: the current ones stay"),
      clock,
    });
  }

  get table(): RouteTable {
    return this.#table;
  }

  /** When the table was last swapped, in epoch milliseconds. */
  get loaded_at_ms(): number {
    return this.#loaded_at_ms;
  }

  /** Whether the store may hold what is not served, for changes that were not seen or could not be read. */
  get stale(): boolean {
    return this.#isUnread;
  }

  /** Services of the store that are left out, since their values are not valid. */
  get left_out(): number {
    return this.#skipped.size;
  }

  /** Watches, then loads, so that no change falls between. Rejects when the store can not be reached. */
  async start(): Promise<void> {
    try {
      await this.#store.ping(START_TIMEOUT_MS);
      this.#watch = await this.#store.watch(ROUTES_PREFIX, {
        changed: (changes) => this.#hear(changes),
        interrupted: () => {
          // what was told before is in what is read after
          this.#told.clear();
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

  #hear(changes: readonly RouteChange[]): void {
    for (const change of changes) {
      const later = (this.#told.get(change.key)?.revision ?? 0) > change.revision;
      if (!later) this.#told.set(change.key, change);
    }
    this.#reloading.wake();
  }

  async #load(stopping: () => boolean): Promise<void> {
    try {
      const changes = this.#isUnread ? await this.#readAll() : this.#takeTold();
      const steps = this.#takeIn(changes);
      if (!(await inSlices(steps, { slice_ms: SLICE_MS, stopping, clock: this.#clock }))) return;
    } catch (error) {
      this.#isUnread = true;
      throw error;
    }
    const table = this.#builder.take();
    this.#table = table;
    this.#loaded_at_ms = this.#clock.now();
    for (const warning of table.warnings) this.#log.warn({}, warning);
    this.#log.info({ ...table.counts }, "routes loaded");
    const skipped = Array.from(this.#skipped, ([service, reason]) => ({ service, reason }));
    skipped.sort((a, b) => (a.service < b.service ? -1 : 1));
    this.#onLoad({ store_revision: this.#revision, ...table.counts, skipped });
  }

  /** What the store holds now, and the deletion of what it no longer has. */
  async #readAll(): Promise<RouteChange[]> {
    this.#isUnread = false;
    const { revision, entries } = await this.#store.list(ROUTES_PREFIX);
    const gone = new Set(this.#known.keys());
    for (const { key } of entries) gone.delete(key);
    this.#revision = revision;
    return [...[...gone].map((key) => ({ key, value: null, revision })), ...entries, ...this.#takeTold()];
  }

  /** What was told and is not taken in yet: a revision that comes late has been replaced already. */
  #takeTold(): RouteChange[] {
    const changes = [...this.#told.values()].filter(({ revision }) => revision > this.#revision);
    this.#told.clear();
    for (const { revision } of changes) this.#revision = Math.max(this.#revision, revision);
    return changes;
  }

  /** Takes in `changes`, and empties it meanwhile: all values at once and what is made of them are a lot. */
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

  /** The valid service that a value holds, null for one that is left out. */
  *#read(name: string, value: string): Generator<void, StoredServiceConfig | null> {
    const parsed = parse(value);
    yield;
    const result = parsed === undefined ? null : yield* validateStoredInSteps(name, parsed);
    yield;
    if (result?.ok) {
      this.#skipped.delete(name);
      return result.service;
    }
    const fault = result === null ? "its value is not JSON, or is nested too deeply" : "it is not valid";
    this.#log.warn({ route_service: name, fields: result?.fields }, `service left out: ${fault}`);
    const [first] = result?.fields ?? [];
    const reason = first === undefined ? fault : `${first.path}: ${first.message}`;
    this.#skipped.set(name, reason.slice(0, REASON_LENGTH_MAX));
    return null;
  }
}

function parse(value: string): unknown {
  try {
    return parseJson(value);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
