import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf, systemErrorCode } from "@ostiary/lib/domain/errors";
import { StartRefused } from "@ostiary/lib/runtime/service";
import { VERSION } from "@ostiary/lib/runtime/version";
import { type BackupConfig, type Place, placesOf } from "./config.ts";
import { type Dump, FORMAT, type Manifest, writeManifest } from "./manifest.ts";
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
import type { SchemaName } from "./schemas.ts";
import { selectMigrations, selectRolesOf, selectServerMajor } from "./sql.ts";

/** The timeout for a table lock that another session holds, such as a migration. */
const LOCK_WAIT_MS = 60_000;

/**
 * Writes a backup of the schemas into a new or empty directory: a dump of each database, then the manifest
 * (OP-62, OP-63). A failure leaves the directory as it was before.
 *
 * @throws StartRefused for a directory, database or `pg_dump` that cannot be used
 */
export async function createBackup(
  config: BackupConfig,
  directory: string,
  surroundings: Surroundings,
  say: Say,
): Promise<Manifest> {
  const tool = findTool("pg_dump", surroundings.env);
  const sources: Source[] = [];
  for (const place of placesOf(config)) sources.push(await sourceAt(place, config, tool));
  const isNew = await claimDirectory(directory);
  // Cleanup removes only the files of this run: another run may use the same empty directory.
  const written: string[] = [];
  try {
    const dumps: Dump[] = [];
    const dumping = { config, directory, tool, surroundings, say, written };
    for (const source of sources) dumps.push(await dump(source, dumping));
    const manifest: Manifest = {
      format: FORMAT,
      version: VERSION,
      created_at: new Date().toISOString(),
      dumps,
    };
    await writeManifest(directory, manifest);
    return manifest;
  } catch (error) {
    for (const path of written) await rm(path, { force: true });
    if (isNew) await rmdir(directory).catch(() => {});
    throw error;
  }
}

/** A database to dump, and its state before the dump. */
interface Source {
  readonly place: Place;
  readonly file: string;
  readonly server_major: number;
  readonly migrations: ReadonlyMap<SchemaName, number[]>;
  readonly roles: readonly string[];
}

async function sourceAt(place: Place, config: BackupConfig, tool: Tool): Promise<Source> {
  return withDatabase(place.url, config, async (database) => {
    const server_major = await selectServerMajor(database);
    if (tool.major < server_major) {
      throw new StartRefused(
        `${tool.path} is from PostgreSQL ${tool.major}, and the server is PostgreSQL ${server_major}. Install the client programs of PostgreSQL ${server_major}.`,
      );
    }
    const migrations = new Map<SchemaName, number[]>();
    for (const schema of place.schemas) {
      const applied = await selectMigrations(database, schema);
      if (applied === null || applied.length === 0) {
        throw new StartRefused(
          `The database has no schema ${schema} of Ostiary. Correct the URL, or start the service once.`,
        );
      }
      migrations.set(schema, applied);
    }
    const roles = await selectRolesOf(database, place.schemas);
    return { place, file: `${place.schemas.join("-")}.dump`, server_major, migrations, roles };
  });
}

/** Creates the directory, or accepts an empty one. Returns whether the directory is new. */
async function claimDirectory(directory: string): Promise<boolean> {
  try {
    await mkdir(directory, { mode: 0o700 });
    return true;
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") {
      throw new StartRefused(`The directory ${directory} cannot be created: ${reasonOf(error)}`, error);
    }
  }
  const names = await readdir(directory).catch((error) => {
    throw new StartRefused(`The directory ${directory} cannot be read: ${reasonOf(error)}`, error);
  });
  if (names.length > 0) {
    throw new StartRefused(`The directory ${directory} is not empty. Name a new directory for each backup.`);
  }
  return false;
}

interface Dumping extends ToolRun {
  /** The files that this run has created. */
  readonly written: string[];
}

async function dump(source: Source, dumping: Dumping): Promise<Dump> {
  const { place, file, migrations, roles, server_major } = source;
  const sum = await writeDump(source, dumping);
  await withDatabase(place.url, dumping.config, async (database) => {
    for (const [schema, before] of migrations) {
      const after = await selectMigrations(database, schema);
      if (after?.join() === before.join()) continue;
      throw new Error(`The schema ${schema} was migrated while it was dumped. Run the backup again.`);
    }
  });
  return {
    file,
    ...sum,
    server_major,
    pg_dump_major: dumping.tool.major,
    schemas: Array.from(migrations, ([name, applied]) => ({ name, migrations: applied })),
    roles: [...roles],
  };
}

async function writeDump({ place, file }: Source, dumping: Dumping) {
  const { config, directory, tool, surroundings, say, written } = dumping;
  const { env, signal } = surroundings;
  const connection = connectionTo(place.url, config, tool);
  const progress = new Progress(say, `Backing up ${place.schemas.join(", ")}`, null);
  const path = join(directory, file);
  const output = await open(path, "wx", 0o600);
  written.push(path);
  try {
    const child = Bun.spawn(
      [
        tool.path,
        "--format=custom",
        `--lock-wait-timeout=${LOCK_WAIT_MS}`,
        "--no-password",
        ...place.schemas.map((schema) => `--schema=${schema}`),
        `--dbname=${connection.dbname}`,
      ],
      { env: variablesOf(env, connection), stdin: "ignore", stdout: "pipe", stderr: "pipe", signal },
    );
    const [sum] = await Promise.all([
      copied(child.stdout, output, progress),
      ended("pg_dump", child, child.stderr.text()),
    ]);
    await output.sync();
    progress.end();
    return sum;
  } finally {
    await output.close();
  }
}

/** Copies a dump into a file. Returns its size and checksum. */
async function copied(from: ReadableStream<Uint8Array>, to: FileHandle, progress: Progress) {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of from) {
    hash.update(chunk);
    await to.appendFile(chunk);
    bytes += chunk.length;
    progress.passed(chunk.length);
  }
  return { bytes, sha256: hash.digest("hex") };
}
