import { PGlite } from "@electric-sql/pglite";
import { withoutTrailingSlashes } from "../../../domain/routes/stored-form.ts";
import type { PeerTls } from "../../config/index.ts";
import { claimFolder, UnusableFolder } from "../../data-folder.ts";
import { observeNothing, type StoreObserver } from "../observer.ts";
import { databaseBootFailure } from "./boot-failure.ts";
import type { Database } from "./database.ts";
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
 * Opens `postgres://…`, `pglite:///folder` or `pglite://memory` (OP-11). Rejects with `StoreUnavailable` if the server
 * does not respond, with `UnusableFolder` if the folder cannot be used, and with `TypeError` for another URL.
 */
export async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
  const { namespace, observer = observeNothing, tls, ...limits } = options;
  const view = { namespace, observer, unit: new UnitOfWork() };
  if (/^postgres(ql)?:\/\//.test(url)) {
    return new ObservedDatabase(await openPool(url, { ...postgresLimits, ...limits }, tls), view);
  }
  if (url.startsWith("pglite://")) {
    const { laneWaitingMax } = { ...postgresLimits, ...limits };
    const adapter = await openPglite(pgliteFolder(url), laneWaitingMax);
    return new ObservedDatabase(adapter, view);
  }
  throw new TypeError("A database URL begins with postgres:// or pglite://");
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

async function openPglite(folder: string | undefined, laneWaitingMax: number): Promise<PgliteAdapter> {
  if (folder === undefined) {
    return new PgliteAdapter(await pinned(await PGlite.create()), laneWaitingMax, async () => {});
  }
  const giveUp = await claimFolder(folder);
  try {
    return new PgliteAdapter(await pinned(await PGlite.create(folder)), laneWaitingMax, giveUp);
  } catch (error) {
    await giveUp();
    throw new UnusableFolder(folder, "it holds no database that can be opened.", error);
  }
}

async function pinned(pglite: PGlite): Promise<PGlite> {
  for (const setting of Object.entries(sessionSettings)) {
    await pglite.query("select set_config($1, $2, false)", setting);
  }
  return pglite;
}

/** Returns the URL of an embedded database in `folder`, an absolute path that may contain any characters. */
export function pgliteUrl(folder: string): string {
  return `pglite://${folder.split("/").map(encodeURIComponent).join("/")}`;
}

function pgliteFolder(url: string): string | undefined {
  if (url === "pglite://memory") return undefined;
  const folder = decoded(url.slice("pglite://".length));
  if (!folder.startsWith("/") || folder === "/") {
    throw new TypeError("A PGlite URL is pglite://memory or pglite:///absolute/directory");
  }
  return withoutTrailingSlashes(folder);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new UnusableFolder(
      path,
      "its URL has a % that escapes no character: write %25 for a percent sign.",
    );
  }
}
