import { constants } from "node:fs";
import { access, lstat, mkdir, realpath } from "node:fs/promises";
import { Claimed, claim } from "./claim.ts";

/** The directory of an embedded database cannot be used; the message says which one, and why. */
export class DatabaseDirectoryError extends Error {
  constructor(directory: string, reason: string, cause?: unknown) {
    super(`The database directory ${directory} can not be used: ${reason}`, { cause });
    this.name = "DatabaseDirectoryError";
  }
}

/** A directory is not there and can not be made, may not be written, or is in use; the message is the reason. */
export class UnusableDirectory extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "UnusableDirectory";
  }
}

/** Creates `directory` when it is missing. Resolves with its real path, once this process may write there. */
export async function openDirectory(directory: string): Promise<string> {
  try {
    await mkdir(directory, { recursive: true });
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(directory);
  } catch (error) {
    throw new UnusableDirectory(await reasonOf(directory, error));
  }
}

/** {@link claim}, with the reason in words where there is none to be had. */
export async function claimFor(path: string): Promise<() => Promise<void>> {
  try {
    return await claim(path);
  } catch (error) {
    if (!(error instanceof Claimed)) throw new UnusableDirectory(await reasonOf(path, error));
    const holder = error.holder === null ? "another process" : `process ${error.holder}`;
    throw new UnusableDirectory(`${holder} is using it.`);
  }
}

/**
 * Creates `directory` when it is missing, and claims it for this process, under whatever name others know it:
 * two processes would destroy its data. Resolves with the function that gives the claim up.
 */
export async function claimDirectory(directory: string): Promise<() => Promise<void>> {
  try {
    return await claimFor(await openDirectory(directory));
  } catch (error) {
    if (!(error instanceof UnusableDirectory)) throw error;
    throw new DatabaseDirectoryError(directory, error.message);
  }
}

async function reasonOf(path: string, error: unknown): Promise<string> {
  switch (error instanceof Error && "code" in error ? error.code : undefined) {
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
