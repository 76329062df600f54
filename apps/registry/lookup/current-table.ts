import {
  buildRouteTable,
  type CompiledRoute,
  type RouteTable,
  type StoredRoute,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { readSnapshot } from "./queries.ts";

/** The look-up table of what is current in the database, built again when something was written since. */
export class CurrentTable {
  readonly #database: Database;
  #fence: number | undefined;
  #services: ReadonlyMap<string, StoredServiceConfig> = new Map();
  #table: RouteTable = buildRouteTable([]);

  constructor(database: Database) {
    this.#database = database;
  }

  /** The table as of now. */
  async read(): Promise<RouteTable> {
    const snapshot = await readSnapshot(this.#database, this.#fence);
    if (snapshot !== null) {
      this.#fence = snapshot.fence;
      this.#services = new Map(snapshot.services.map(({ name, config }) => [name, config]));
      this.#table = buildRouteTable(this.#services);
    }
    return this.#table;
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
