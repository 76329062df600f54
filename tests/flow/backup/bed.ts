import { join } from "node:path";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import { createBackup } from "@ostiary/platform/backup/create";
import { restoreBackup } from "@ostiary/platform/backup/restore";
import postgres from "postgres";
import { leash } from "../../support/clean-up-after-kill.ts";
import { commandOf } from "../../support/command-of.ts";
import { freshDatabase, services } from "../../support/index.ts";
import { ROOT } from "../../support/root.ts";
import { runToEnd } from "../../support/run-to-end.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

export const SCHEMAS = ["routes", "identity", "audit"] as const;

/** True if this machine has PostgreSQL and its client programs. */
export const isAble = services().postgres.binary && Bun.which("pg_dump") !== null;

export const PATH = process.env.PATH ?? "";
export const silent = () => {};

export function surroundings(path = PATH, signal = new AbortController().signal) {
  return { env: { PATH: path }, signal };
}

/** Returns the path of a directory that does not exist yet. */
export function newPath(): string {
  return join(temporaryFolder("backup"), "backup");
}

/** Creates a database with these schemas, in the state after all migrations. */
export async function newMigrated(...schemas: readonly string[]): Promise<string> {
  const url = await freshDatabase();
  const database = await openDatabase(url, { namespace: "test", poolMax: 2 });
  try {
    for (const schema of schemas) await database.migrate(schema, shippedFile(`drizzle/${schema}`));
  } finally {
    await database.close();
  }
  return url;
}

/** Runs an SQL statement and returns its rows. */
export async function ask(url: string, statement: string): Promise<postgres.Row[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

/** Returns which of `SCHEMAS` a database has, in alphabetical order. */
export async function schemasOf(url: string): Promise<string[]> {
  const names = SCHEMAS.map((name) => `'${name}'`).join();
  const found = await ask(
    url,
    `select nspname as name from pg_namespace where nspname in (${names}) order by 1`,
  );
  return found.map(({ name }) => String(name));
}

export function addOrganization(url: string, id: string) {
  return ask(url, `insert into identity.organizations values ('${id}', 'Acme', now(), now())`);
}

export async function organizationsOf(url: string): Promise<string[]> {
  return (await ask(url, "select id from identity.organizations order by id")).map(({ id }) => String(id));
}

/** Makes a backup of one database and returns the backup's directory. */
export async function backUp(url: string): Promise<string> {
  const directory = newPath();
  await createBackup({ DATABASE_URL: url }, directory, surroundings(), silent);
  return directory;
}

export function restore(directory: string, url: string) {
  return restoreBackup({ DATABASE_URL: url }, directory, surroundings(), silent);
}

const COMMAND = [...commandOf("apps/platform/ostiary.ts"), "backup"];

/** Starts `ostiary backup` as a process. */
export function startOstiary(parameters: readonly string[], env: Record<string, string>) {
  const child = Bun.spawn([...COMMAND, ...parameters], {
    cwd: ROOT,
    env: { PATH, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  leash().process(child.pid);
  void child.exited.then(() => leash().release(child.pid));
  return child;
}

export function runOstiary(parameters: readonly string[], env: Record<string, string> = {}) {
  return runToEnd([...COMMAND, ...parameters], { env: { PATH, ...env } });
}
