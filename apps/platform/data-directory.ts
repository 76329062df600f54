import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { StartRefused } from "@ostiary/lib/service";

/** Where the platform keeps what must outlive it. */
export interface DataDirectory {
  readonly database_url: string;
  readonly log_file: string;
  readonly admin_token_file: string;
}

/** Makes `path` ready; with `fresh`, what it held is deleted first. Refuses a directory it can't write. */
export async function openDataDirectory(path: string, fresh: boolean): Promise<DataDirectory> {
  const root = resolve(path);
  const database = join(root, "database");
  try {
    await mkdir(root, { recursive: true });
    if (fresh) await clear(root, database);
    const probe = join(root, ".writable");
    await writeFile(probe, "");
    await rm(probe);
  } catch (cause) {
    if (cause instanceof StartRefused) throw cause;
    throw new StartRefused(
      `Can not write to the directory ${root} (DATA_DIR): choose one that this user may write.`,
    );
  }
  return {
    database_url: `pglite://${database}`,
    log_file: join(root, "ostiary.log"),
    admin_token_file: join(root, "admin-token"),
  };
}

/** Deletes what earlier starts left, but never under a platform that still runs. */
async function clear(root: string, database: string): Promise<void> {
  const holder = await readFile(`${database}.pid`, "utf8").catch(() => null);
  if (holder !== null && isRunning(Number(holder))) {
    throw new StartRefused(`Process ${holder} is using ${root}: stop it before you begin anew.`);
  }
  for (const name of ["database", "database.pid", "admin-token", "ostiary.log"]) {
    await rm(join(root, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const TOKEN_BYTES = 24;

/** The admin token of this directory: `given` one, else the one kept in the file, made at the first start. */
export async function adminToken(file: string, given: string | undefined): Promise<string> {
  if (given !== undefined) {
    await writeFile(file, given, { mode: 0o600 });
    return given;
  }
  const kept = (await readFile(file, "utf8").catch(() => "")).trim();
  if (kept !== "") return kept;
  const made = randomBytes(TOKEN_BYTES).toString("base64url");
  await writeFile(file, made, { mode: 0o600 });
  return made;
}
