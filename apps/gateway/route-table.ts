import type { Clock } from "@ostiary/lib/async";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store";
import { parseJson } from "@ostiary/lib/domain/json";
import {
  buildRouteTable,
  type RouteTable,
  type StoredServiceConfig,
  validateStored,
} from "@ostiary/lib/domain/routes";
import {
  type RouteEntry,
  type RouteStore,
  type RouteWatch,
  routeStoreBootFailure,
} from "@ostiary/lib/runtime/stores/route-store";
import type { Logger } from "@ostiary/lib/runtime/telemetry";

const START_TIMEOUT_MS = 5_000;
const RETRY_MS = 1_000;

interface Loaded {
  readonly value: string;
  readonly service: StoredServiceConfig | null;
}

/**
 * The published routes: loaded whole at start and after every change, swapped at once. A service value that is
 * not valid is left out with a warning and costs no other service its routes; a load that fails leaves the
 * current table in place and is tried again.
 */
export class PublishedRoutes {
  readonly #store: RouteStore;
  readonly #log: Logger;
  readonly #clock: Clock;
  #table: RouteTable = buildRouteTable([]);
  /** What each key held at the last load, so that a change costs the checking of what changed. */
  #loaded = new Map<string, Loaded>();
  #watch: RouteWatch | null = null;
  #stale = false;
  #reloading: Promise<void> | null = null;
  #cancelRetry: () => void = () => {};
  #stopped = false;

  constructor(store: RouteStore, log: Logger, clock: Clock) {
    this.#store = store;
    this.#log = log;
    this.#clock = clock;
  }

  get table(): RouteTable {
    return this.#table;
  }

  /** Watches, then loads, so that no change falls between. Rejects when the store can not be reached. */
  async start(): Promise<void> {
    try {
      await this.#store.ping(START_TIMEOUT_MS);
      this.#watch = await this.#store.watch(ROUTES_PREFIX, {
        changed: () => this.#changed(),
        interrupted: () => this.#changed(),
      });
      await this.#load();
    } catch (error) {
      throw routeStoreBootFailure(error).failure;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry();
    await this.#watch?.close();
    await this.#reloading;
  }

  /** Changes during a load cause one more load, however many they are. */
  #changed(): void {
    this.#stale = true;
    this.#reloading ??= this.#reload().finally(() => {
      this.#reloading = null;
      // a change that came after the last look and before this line
      if (this.#stale && !this.#stopped) this.#changed();
    });
  }

  async #reload(): Promise<void> {
    while (this.#stale && !this.#stopped) {
      this.#stale = false;
      this.#cancelRetry();
      try {
        await this.#load();
      } catch (error) {
        this.#log.warn({ error_message: reasonOf(error) }, "routes not reloaded: the current ones stay");
        this.#cancelRetry = this.#clock.after(RETRY_MS, () => this.#changed());
      }
    }
  }

  async #load(): Promise<void> {
    const { entries } = await this.#store.list(ROUTES_PREFIX);
    const loaded = new Map<string, Loaded>();
    const services: [string, StoredServiceConfig][] = [];
    for (const entry of entries) {
      const name = entry.key.slice(ROUTES_PREFIX.length);
      const service = this.#service(name, entry);
      loaded.set(entry.key, { value: entry.value, service });
      if (service !== null) services.push([name, service]);
    }
    const table = buildRouteTable(services);
    this.#loaded = loaded;
    this.#table = table;
    for (const warning of table.warnings) this.#log.warn({}, warning);
    this.#log.info({ services: services.length, routes: table.size }, "routes loaded");
  }

  /** The valid service of an entry, null for one that is left out. */
  #service(name: string, { key, value }: RouteEntry): StoredServiceConfig | null {
    const known = this.#loaded.get(key);
    if (known?.value === value) return known.service;
    const parsed = parse(value);
    const result = parsed === undefined ? null : validateStored(name, parsed);
    if (result?.ok) return result.service;
    this.#log.warn(
      { route_service: name, fields: result?.fields },
      result === null
        ? "service left out: its value is not JSON, or is nested too deeply"
        : "service left out: it is not valid",
    );
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
