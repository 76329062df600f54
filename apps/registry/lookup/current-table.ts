import { inSlices, Semaphore } from "@ostiary/lib/async";
import {
  type CompiledRoute,
  type RouteTable,
  RouteTableBuilder,
  type StoredRoute,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { type Changes, readChanges } from "./queries.ts";

/** How long routes may be taken in before everything else has its turn. */
const SLICE_MS = 5;

/** The look-up table of what is current in the database, with what was written since taken in when it is asked for. */
export class CurrentTable {
  readonly #database: Database;
  readonly #taking = new Semaphore(1);
  #builder = new RouteTableBuilder();
  /** Of the last write that is taken in; undefined while nothing is. */
  #fence: number | undefined;
  #services: ReadonlyMap<string, StoredServiceConfig> = new Map();
  #table: RouteTable = this.#builder.take();
  /** Counts reads, to tell which of two is newer. */
  #asked = 0;
  #taken = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The table as of now. */
  async read(): Promise<RouteTable> {
    const asked = ++this.#asked;
    const changes = await readChanges(this.#database, this.#fence);
    if (changes === null) return this.#table;
    const isTaken = await this.#taking.run(() => this.#take(changes, asked));
    return isTaken ? this.#table : this.read();
  }

  /** Says whether all of it is there now: not where what it changes was lost meanwhile. */
  async #take(changes: Changes, asked: number): Promise<boolean> {
    if (asked < this.#taken) return true;
    if (!changes.is_whole) {
      if (this.#fence === undefined) return false;
      // over what later writes have changed since, these would be the state of no moment
      if (changes.fence <= this.#fence) return true;
    }
    try {
      await inSlices(this.#takeIn(changes), { slice_ms: SLICE_MS });
    } catch (error) {
      // what was read before stays to be asked for, until all is read anew
      this.#builder = new RouteTableBuilder();
      this.#fence = undefined;
      throw error;
    }
    this.#taken = asked;
    this.#fence = changes.fence;
    this.#table = this.#builder.take();
    return true;
  }

  *#takeIn({ is_whole, services, deleted }: Changes): Generator<void> {
    const taken = new Map(this.#services);
    const gone = is_whole ? new Set(taken.keys()) : new Set(deleted);
    for (const { name, config } of services) {
      gone.delete(name);
      yield* this.#builder.put(name, config);
      taken.set(name, config);
    }
    for (const name of gone) {
      yield* this.#builder.delete(name);
      taken.delete(name);
    }
    this.#services = taken;
  }

  /** Of the last write that {@link read} has seen. */
  get fence(): number | undefined {
    return this.#fence;
  }

  /** The services that {@link read} has seen, by name. */
  get services(): ReadonlyMap<string, StoredServiceConfig> {
    return this.#services;
  }

  /** The table that {@link read} gave last. */
  get table(): RouteTable {
    return this.#table;
  }

  /** The row of the stored form that a route of the table was made from. */
  rowOf({ service, scope, method, path }: CompiledRoute): StoredRoute | undefined {
    const rows = this.#services.get(service)?.[scope]?.routes;
    return rows?.find((row) => row.path === path && row.methods.includes(method));
  }
}
