import { buildRouteTable, type RouteTable } from "@ostiary/lib/domain/routes";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { readSnapshot } from "./queries.ts";

/** The look-up table of what is current in the database, built again when something was written since. */
export class CurrentTable {
  readonly #database: Database;
  #fence: number | undefined;
  #table: RouteTable = buildRouteTable([]);

  constructor(database: Database) {
    this.#database = database;
  }

  /** The table as of now. */
  async read(): Promise<RouteTable> {
    const snapshot = await readSnapshot(this.#database, this.#fence);
    if (snapshot !== null) {
      this.#fence = snapshot.fence;
      this.#table = buildRouteTable(snapshot.services.map(({ name, config }) => [name, config]));
    }
    return this.#table;
  }
}
