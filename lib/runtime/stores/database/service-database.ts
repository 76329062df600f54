import { peerTls } from "../../config/index.ts";
import { observeNothing } from "../observer.ts";
import type { Database } from "./database.ts";
import { type DatabaseOptions, openDatabase } from "./open-database.ts";
import type { PostgresLimits } from "./postgres-pool.ts";

type DatabaseConfig = Readonly<Record<string, unknown>> & { DATABASE_URL: string };
type Options = Omit<DatabaseOptions, "tls">;

/** Opens the database of a service. Returns a view of `given` if the process already opened the database. */
export async function openConfigured(
  config: DatabaseConfig,
  options: Options,
  given?: Database,
): Promise<Database> {
  const { namespace, observer = observeNothing } = options;
  if (given !== undefined) return given.scoped(namespace, observer);
  return openDatabase(config.DATABASE_URL, { ...options, tls: peerTls(config, "DATABASE") });
}

/** Also opens connections with `readLimits` for some reads. An embedded database has one session, which serves both. */
export async function openWithReads(
  config: DatabaseConfig,
  options: Options,
  readLimits: Partial<PostgresLimits>,
  given?: Database,
) {
  const { namespace, observer } = options;
  const database = await openConfigured(config, options, given);
  const embedded = config.DATABASE_URL.startsWith("pglite://");
  const reads = embedded ? database : await openConfigured(config, { namespace, observer, ...readLimits });
  return {
    database,
    reads,
    async close() {
      await Promise.all([database.close(), ...(embedded ? [] : [reads.close()])]);
    },
  };
}

/** Applies migrations, and warns if a newer version of Ostiary has migrated the database (OP-75). */
export async function migrateAtStart(
  database: Database,
  schema: string,
  folder: string,
  log: { warn(fields: object, message: string): void },
): Promise<void> {
  const newer = await database.migrate(schema, folder);
  if (newer === 0) return;
  log.warn({ schema, migrations: newer }, "the database is newer than this version");
}
