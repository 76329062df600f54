import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { type Database, type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { listServices } from "../services/queries.ts";

/** Every current service, and the fence of the last write that led to them, as of one moment. */
export interface Snapshot {
  fence: number;
  services: [string, StoredServiceConfig][];
}

/** Reads all services, or null when nothing was written since `known_fence`. */
export function readSnapshot(database: Database, known_fence: number | undefined): Promise<Snapshot | null> {
  return database.transaction(
    "select_snapshot",
    async (tx) => {
      const fence = await lastFence(tx);
      return fence === known_fence ? null : { fence, services: await listServices(tx) };
    },
    { isolation: "repeatable read", read_only: true },
  );
}

async function lastFence(tx: Orm): Promise<number> {
  const [row] = await rows<{ last_fence: number }>(tx, sql`select last_fence from routes.writer`);
  if (row === undefined) throw new Error("The table routes.writer has lost its row.");
  return Number(row.last_fence);
}
