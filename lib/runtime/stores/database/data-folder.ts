import { Database as Sqlite } from "bun:sqlite";
import { constants } from "node:fs";
import { access, lstat, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { errorCode } from "../../../domain/errors/index.ts";

/** A folder of data is not there and can not be made, may not be written, or is in use; the message says which. */
export class UnusableFolder extends Error {
  readonly reason: string;

  constructor(folder: string, reason: string, cause?: unknown) {
    super(`The database directory ${folder} can not be used: ${reason}`, { cause });
    this.name = "UnusableFolder";
    this.reason = reason;
  }
}

/** Creates `folder` when it is missing. Resolves with its real path, once this process may write there. */
export async function openFolder(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(folder);
  } catch (error) {
    throw new UnusableFolder(folder, await reasonOf(folder, error));
  }
}

/**
 * Creates `folder` when it is missing, and claims it for this process, under whatever name others know it: two
 * processes would destroy its data. Resolves with the function that gives the claim up.
 */
export async function claimFolder(folder: string): Promise<() => Promise<void>> {
  return claimPath(await openFolder(folder), folder);
}

/**
 * Claims `path` for this process, and resolves with the function that gives it up. A refusal calls it `shown`.
 *
 * The claim is SQLite's lock on an empty file beside it, which the kernel drops by itself when the process
 * dies, whatever its death. So a claim can neither be left over nor taken by two at once, also by processes
 * that do not see each other's ids. The file stays: were it deleted, two could hold locks on two files of one
 * name. The id in `.pid` is for people only.
 */
export async function claimPath(path: string, shown = path): Promise<() => Promise<void>> {
  let lock: Sqlite | undefined;
  const pid_file = `${path}.pid`;
  try {
    lock = new Sqlite(`${path}.lock`);
    lock.run("begin exclusive");
    await writeFile(pid_file, String(process.pid));
  } catch (error) {
    lock?.close();
    const reason =
      errorCode(error) === "SQLITE_BUSY" ? await holderOf(pid_file) : await reasonOf(path, error);
    throw new UnusableFolder(shown, reason);
  }
  return async () => {
    await rm(pid_file, { force: true });
    lock.close();
  };
}

async function holderOf(pid_file: string): Promise<string> {
  const pid = await readFile(pid_file, "utf8").catch(() => "");
  return `${/^\d+$/.test(pid) ? `process ${pid}` : "another process"} is using it.`;
}

async function reasonOf(path: string, error: unknown): Promise<string> {
  switch (errorCode(error)) {
    case "EACCES":
    case "EPERM":
      return "permission denied.";
    case "EROFS":
      return "the file system is read-only.";
    case "EEXIST":
      return (await isLink(path)) ? "it is a symbolic link to nothing." : "there is a file in its place.";
    case "ENOTDIR":
      return "there is a file in its place.";
    case "ENOENT":
      return "a folder above it does not exist and can not be made.";
    case "ENAMETOOLONG":
      return "its name is too long.";
    case "ENOSPC":
      return "the disk is full.";
    case "SQLITE_CANTOPEN":
    case "SQLITE_READONLY":
    case "SQLITE_NOTADB":
      return `its lock, ${path}.lock, can not be made.`;
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path)).isSymbolicLink();
}
