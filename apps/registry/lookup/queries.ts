import type { Database } from "@ostiary/lib/runtime/stores/database";
import { listServices } from "../services/queries.ts";
import type { CurrentService } from "../services/service.ts";
import { writer } from "../tables.ts";

/** Every current service, and the fence of the last write that led to them, as of one moment. */
export interface Snapshot {
  fence: number;
  services: CurrentService[];
}

/** Reads all services, or null when nothing was written since `known_fence`. */
export function readSnapshot(database: Database, known_fence: number | undefined): Promise<Snapshot | null> {
  return database.transaction(
    "select_snapshot",
    async (tx) => {
      const [row] = await tx.select().from(writer);
      if (row === undefined) throw new Error("The table routes.writer has lost its row.");
      return row.last_fence === known_fence
        ? null
        : { fence: row.last_fence, services: await listServices(tx) };
    },
    { isolation: "repeatable read", read_only: true },
  );
}
