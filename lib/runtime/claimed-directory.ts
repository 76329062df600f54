import { Database as Sqlite } from "bun:sqlite";
import { constants, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { access, lstat, mkdir, realpath } from "node:fs/promises";
import { reasonOf, systemErrorCode } from "../domain/errors/index.ts";

/** The data directory cannot be created, is not writable or is in use. */
export class UnusableDirectory extends Error {
  readonly reason: string;

  constructor(directory: string, reason: string, cause?: unknown) {
    super(`The data directory ${directory} cannot be used: ${reason}`, { cause });
    this.name = "UnusableDirectory";
    this.reason = reason;
  }
}

export class DirectoryInUse extends UnusableDirectory {
  /** "process 123", or "another process" if the id of the holder cannot be read. */
  readonly holder: string;

  constructor(directory: string, holder: string, cause?: unknown) {
    super(directory, `${holder} is using it.`, cause);
    this.name = "DirectoryInUse";
    this.holder = holder;
  }
}

/**
 * Creates `directory` for this user alone if it is missing. Resolves with its real path if this process can write to
 * it.
 */
export async function openDirectory(directory: string): Promise<string> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(directory);
  } catch (error) {
    throw new UnusableDirectory(directory, await unusableReason(directory, error));
  }
}

/**
 * Creates `directory` if it is missing, and claims its real path for this process. Without the claim, two
 * processes could destroy the data in it. Resolves with a function that releases the claim.
 */
export async function claimDirectory(directory: string): Promise<() => Promise<void>> {
  return claimPath(await openDirectory(directory), directory);
}

/**
 * Claims `path` for this process, and resolves with a function that releases the claim. Error messages call the path
 * `shown`. The claim is SQLite's lock on an empty file next to `path`. The kernel releases the lock when the process
 * dies, so a claim is never stale. Processes that cannot see each other's process ids exclude each other too. The
 * file is never deleted; otherwise two processes could lock two files with the same name. The process id in the
 * `.pid` file is only for people. The process removes this file when it exits without releasing the claim.
 */
export async function claimPath(path: string, shown = path): Promise<() => Promise<void>> {
  let lock: Sqlite | undefined;
  const pidFile = pidFileOf(path);
  try {
    lock = new Sqlite(lockFileOf(path));
    // Wait, because a process that only checks for a claim also locks the file for a moment.
    lock.run(`pragma busy_timeout = ${CHECK_MS_MAX}`);
    lock.run("begin exclusive");
    writeFileSync(pidFile, String(process.pid));
  } catch (error) {
    lock?.close();
    if (isBusy(error)) throw new DirectoryInUse(shown, holderOf(path), error);
    throw new UnusableDirectory(shown, await unusableReason(path, error));
  }
  const release = () => {
    process.off("exit", release);
    rmSync(pidFile, { force: true });
    lock.close();
  };
  process.once("exit", release);
  return async () => release();
}

/**
 * Returns the process that holds the claim on `path`, such as "process 123". Returns null if no process holds
 * the claim. Does not claim the path.
 */
export function claimHolder(path: string): string | null {
  const lockFile = lockFileOf(path);
  if (!existsSync(lockFile)) return null;
  let lock: Sqlite | undefined;
  try {
    lock = new Sqlite(lockFile, { readonly: true });
    lock.query("select 1 from sqlite_master").all();
    return null;
  } catch (error) {
    // A later claim of the path reports any other error.
    return isBusy(error) ? holderOf(path) : null;
  } finally {
    lock?.close();
  }
}

const CHECK_MS_MAX = 200;

function lockFileOf(path: string): string {
  return `${path}.lock`;
}

function pidFileOf(path: string): string {
  return `${path}.pid`;
}

function isBusy(error: unknown): boolean {
  return systemErrorCode(error) === "SQLITE_BUSY";
}

/** Names the process that holds the claim on `path`. A process that has just claimed the path may have no id yet. */
function holderOf(path: string): string {
  try {
    const pid = readFileSync(pidFileOf(path), "utf8");
    return /^\d+$/.test(pid) ? `process ${pid}` : "another process";
  } catch {
    return "another process";
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied.",
  EPERM: "permission denied.",
  EROFS: "the file system is read-only.",
  ENOTDIR: "a file with this name exists.",
  ENOENT: "a directory above it does not exist and cannot be created.",
  ENAMETOOLONG: "its name is too long.",
  ENOSPC: "the disk is full.",
};

async function unusableReason(path: string, error: unknown): Promise<string> {
  const code = systemErrorCode(error) ?? "";
  if (code.startsWith("SQLITE_")) return `its lock, ${path}.lock, cannot be created.`;
  if (code !== "EEXIST") return REASONS[code] ?? reasonOf(error);
  const isLink = (await lstat(path)).isSymbolicLink();
  return isLink ? "it is a symbolic link without a target." : "a file with this name exists.";
}
