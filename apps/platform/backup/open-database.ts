import { peerTls } from "@ostiary/lib/runtime/config";
import { type Database, openDatabase } from "@ostiary/lib/runtime/stores/database";
import type { BackupConfig } from "./config.ts";

/** The time limit of a statement; ANALYZE of a large log takes minutes. */
const STATEMENT_MS = 3_600_000;

/** Opens a database for `work`, and always closes it afterwards. */
export async function withDatabase<T>(
  url: string,
  config: BackupConfig,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(url, {
    namespace: "backup",
    tls: peerTls(config, "DATABASE"),
    poolMax: 2,
    statementTimeoutMs: STATEMENT_MS,
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
