import { inSlices, Semaphore } from "@ostiary/lib/async";
import {
  type CompiledRoute,
  type RouteTable,
  RouteTableBuilder,
  type StoredRoute,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { CurrentService } from "../services/service.ts";
import { readSnapshot } from "./queries.ts";

/** How long routes may be taken in before everything else has its turn. */
const SLICE_MS = 5;

/** The look-up table of what is current in the database, with what was written since taken in when it is asked for. */
export class CurrentTable {
  readonly #database: Database;
  readonly #taking = new Semaphore(1);
  #builder = new RouteTableBuilder();
  /** Of the services that the builder has. */
  #revisions = new Map<string, number>();
  #fence: number | undefined;
  #services: ReadonlyMap<string, StoredServiceConfig> = new Map();
  #table: RouteTable = this.#builder.take();
  /** Counts reads, to tell which of two snapshots is newer. */
  #asked = 0;
  #taken = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The table as of now. */
  async read(): Promise<RouteTable> {
    const asked = ++this.#asked;
    const snapshot = await readSnapshot(this.#database, this.#fence);
    if (snapshot === null) return this.#table;
    await this.#taking.run(async () => {
      if (asked < this.#taken) return;
      try {
        await inSlices(this.#takeIn(snapshot.services), { slice_ms: SLICE_MS });
      } catch (error) {
        this.#builder = new RouteTableBuilder();
        this.#revisions.clear();
        throw error;
      }
      this.#taken = asked;
      this.#fence = snapshot.fence;
      this.#services = new Map(snapshot.services.map(({ name, config }) => [name, config]));
      this.#table = this.#builder.take();
    });
    return this.#table;
  }

  /** Puts what is new or another revision, and deletes what is gone. */
  *#takeIn(services: readonly CurrentService[]): Generator<void> {
    const gone = new Set(this.#revisions.keys());
    for (const { name, revision, config } of services) {
      gone.delete(name);
      if (this.#revisions.get(name) === revision) continue;
      yield* this.#builder.put(name, config);
      this.#revisions.set(name, revision);
    }
    for (const name of gone) {
      yield* this.#builder.delete(name);
      this.#revisions.delete(name);
    }
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
