import { PGlite } from "@electric-sql/pglite";
import { withoutTrailingSlashes } from "../../../domain/routes/stored-form.ts";
import { claimDirectory, UnusableDirectory } from "../../claimed-directory.ts";
import type { PeerTls } from "../../config/index.ts";
import { observeNothing, type StoreObserver } from "../observer.ts";
import type { Database } from "./database.ts";
import { databaseBootFailure } from "./database-boot-failure.ts";
import { ObservedDatabase, UnitOfWork } from "./observed-database.ts";
import { PgliteAdapter } from "./pglite.ts";
import { type PostgresLimits, PostgresPool, postgresLimits } from "./postgres-pool.ts";
import { sessionSettings } from "./session-settings.ts";

export interface DatabaseOptions extends Partial<PostgresLimits> {
  /** The name of the database in metrics: the database schema in which the service works. */
  namespace: string;
  observer?: StoreObserver;
  tls?: PeerTls;
}

/**
 * Opens a database by a URL that the configuration accepts (OP-11). Rejects with `StoreUnavailable` if the server does
 * not respond, and with `UnusableDirectory` if the directory cannot be used.
 */
export async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
  const { namespace, observer = observeNothing, tls, ...given } = options;
  const limits = { ...postgresLimits, ...given };
  const adapter = url.startsWith("pglite://")
    ? await openPglite(url, limits.laneWaitingMax)
    : await openPool(url, limits, tls);
  return new ObservedDatabase(adapter, { namespace, observer, unit: new UnitOfWork() });
}

async function openPool(url: string, limits: PostgresLimits, tls?: PeerTls): Promise<PostgresPool> {
  const pool = new PostgresPool(url, limits, tls);
  try {
    await pool.warm();
    return pool;
  } catch (error) {
    await pool.close();
    throw databaseBootFailure(error, url);
  }
}

async function openPglite(url: string, laneWaitingMax: number): Promise<PgliteAdapter> {
  if (url === "pglite://memory") {
    return new PgliteAdapter(await pinned(await PGlite.create()), laneWaitingMax, async () => {});
  }
  const directory = withoutTrailingSlashes(decodeURIComponent(url.slice("pglite://".length)));
  const giveUp = await claimDirectory(directory);
  try {
    return new PgliteAdapter(await pinned(await PGlite.create(directory)), laneWaitingMax, giveUp);
  } catch (error) {
    await giveUp();
    throw new UnusableDirectory(directory, "it holds no database that can be opened.", error);
  }
}

async function pinned(pglite: PGlite): Promise<PGlite> {
  for (const setting of Object.entries(sessionSettings)) {
    await pglite.query("select set_config($1, $2, false)", setting);
  }
  return pglite;
}

/** Returns the URL of an embedded database in `directory`, an absolute path that may contain any characters. */
export function pgliteUrl(directory: string): string {
  return `pglite://${directory.split("/").map(encodeURIComponent).join("/")}`;
}
