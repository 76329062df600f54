import { join } from "node:path";
import { StartRefused } from "@ostiary/lib/runtime/service";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { type BackupConfig, type Place, placesOf } from "./config.ts";
import type { Dump, Manifest } from "./manifest.ts";
import { withDatabase } from "./open-database.ts";
import {
  connectionTo,
  ended,
  findTool,
  type Surroundings,
  type Tool,
  type ToolRun,
  variablesOf,
} from "./postgres-tools.ts";
import { Progress, type Say } from "./progress.ts";
import { migrationsOfThisVersion, type SchemaName } from "./schemas.ts";
import { analyze, selectMissingRoles, selectSchemas, selectServerMajor } from "./sql.ts";
import { verifyBackup } from "./verify.ts";

/**
 * Restores a backup into databases that have none of its schemas (OP-65 to OP-67). Each database is restored
 * completely or not at all.
 *
 * @throws StartRefused before any write, for a backup, database or `pg_restore` that cannot be used
 */
export async function restoreBackup(
  config: BackupConfig,
  directory: string,
  surroundings: Surroundings,
  say: Say,
): Promise<Manifest> {
  const tool = findTool("pg_restore", surroundings.env);
  const manifest = await verifyBackup(directory, say);
  checkVersions(manifest, tool);
  const targets = manifest.dumps.map((dump) => ({ dump, place: placeOf(dump, placesOf(config)) }));
  for (const { dump, place } of targets) {
    await withDatabase(place.url, config, (database) => checkTarget(database, dump));
  }
  const done: string[] = [];
  for (const { dump, place } of targets) {
    try {
      await restoreDump(dump, place, { config, directory, tool, surroundings, say });
    } catch (error) {
      throw done.length === 0 ? error : halfDone(error, done);
    }
    done.push(...namesIn(dump));
  }
  for (const url of new Set(targets.map(({ place }) => place.url))) {
    say("Gathering the statistics of the query planner");
    await withDatabase(url, config, analyze);
  }
  return manifest;
}

function namesIn({ schemas }: Dump): SchemaName[] {
  return schemas.map(({ name }) => name);
}

function halfDone(error: unknown, done: readonly string[]): Error {
  const drops = done.map((schema) => `drop schema ${schema} cascade;`).join(" ");
  return new Error(
    `The schemas ${done.join(", ")} are restored, the other schemas are not. Before you run the command again, execute: ${drops}`,
    { cause: error },
  );
}

function checkVersions({ dumps, version }: Manifest, tool: Tool): void {
  const newest = Math.max(...dumps.map(({ pg_dump_major }) => pg_dump_major));
  if (tool.major < newest) {
    throw new StartRefused(
      `${tool.path} is from PostgreSQL ${tool.major}, and the backup was made by pg_dump ${newest}. Install the client programs of PostgreSQL ${newest}.`,
    );
  }
  for (const { name, migrations } of dumps.flatMap(({ schemas }) => schemas)) {
    const known = migrationsOfThisVersion(name);
    const newer = migrations.filter((when) => !known.has(when)).length;
    if (newer === 0) continue;
    throw new StartRefused(
      `The backup is from Ostiary ${version}: its schema ${name} has ${newer} migrations that this version does not know. Restore the backup with Ostiary ${version} or newer.`,
    );
  }
}

/** Returns the database for a dump. One database must receive all schemas of the dump. */
function placeOf(dump: Dump, places: readonly Place[]): Place {
  const names = namesIn(dump);
  const place = places.find(({ schemas }) => names.every((name) => schemas.includes(name)));
  if (place !== undefined) return place;
  throw new StartRefused(
    `${dump.file} contains the schemas ${names.join(", ")} of one database. Set the variables of these services to the same database.`,
  );
}

async function checkTarget(database: Database, { schemas, server_major, roles }: Dump): Promise<void> {
  const present = await selectSchemas(
    database,
    schemas.map(({ name }) => name),
  );
  if (present.length > 0) {
    throw new StartRefused(
      `The database already has the schemas ${present.join(", ")}. Restore into an empty database.`,
    );
  }
  const major = await selectServerMajor(database);
  if (major < server_major) {
    throw new StartRefused(
      `The backup is from PostgreSQL ${server_major}, and this server is PostgreSQL ${major}. Restore the backup on PostgreSQL ${server_major} or newer.`,
    );
  }
  const missing = await selectMissingRoles(database, roles);
  if (missing.length > 0) {
    throw new StartRefused(
      `The server does not have the roles ${missing.join(", ")} that own the schemas or work in them. Create these roles as for the first installation, then run the command again.`,
    );
  }
}

/**
 * Restores one dump in one transaction. This process feeds the dump to `pg_restore`, so the restore fails if the
 * process dies.
 */
async function restoreDump(dump: Dump, place: Place, run: ToolRun): Promise<void> {
  const { config, directory, tool, surroundings, say } = run;
  const connection = connectionTo(place.url, config, tool);
  const child = Bun.spawn(
    [tool.path, "--single-transaction", "--exit-on-error", "--no-password", `--dbname=${connection.dbname}`],
    {
      env: variablesOf(surroundings.env, connection),
      stdin: "pipe",
      stdout: "ignore",
      stderr: "pipe",
      signal: surroundings.signal,
    },
  );
  const progress = new Progress(say, `Restoring ${namesIn(dump).join(", ")}`, dump.bytes);
  const fed = feed(child, join(directory, dump.file), progress);
  await ended("pg_restore", child, child.stderr.text());
  await fed;
  progress.end();
}

/**
 * Writes a file to the standard input of a program. Ignores a write error if the program failed, because
 * {@link ended} reports the reason.
 */
async function feed(
  child: Bun.Subprocess<"pipe", "ignore", "pipe">,
  path: string,
  progress: Progress,
): Promise<void> {
  try {
    for await (const chunk of Bun.file(path).stream()) {
      child.stdin.write(chunk);
      await child.stdin.flush();
      progress.passed(chunk.length);
    }
    await child.stdin.end();
  } catch (error) {
    if ((await child.exited) === 0) throw error;
  }
}
