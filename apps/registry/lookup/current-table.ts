import { buildRouteTable, type RouteTable } from "@ostiary/lib/routes";
import type { Database } from "@ostiary/lib/stores/database";
import { sql } from "drizzle-orm";
import { listServices } from "../services/queries.ts";

/** The look-up table of what is current in the database, built again when something was written since. */
export class CurrentTable {
  readonly #database: Database;
  #built: { fence: number; table: RouteTable } | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The table as of now. */
  read(): Promise<RouteTable> {
    return this.#database.transaction(
      "select_route_table",
      async (tx) => {
        const [writer] = await this.#database.rows<{ last_fence: number }>(
          tx,
          sql`select last_fence from routes.writer`,
        );
        const fence = Number(writer?.last_fence);
        if (this.#built?.fence !== fence) {
          this.#built = { fence, table: buildRouteTable(await listServices(this.#database, tx)) };
        }
        return this.#built.table;
      },
      { isolation: "repeatable read", read_only: true },
    );
  }
}
