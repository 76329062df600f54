import { mkdir, readFile, rm, writeFile } from "node:fs/promises";

/** The directory of an embedded database cannot be used; the message says which one, and why. */
export class DatabaseDirectoryError extends Error {
  constructor(directory: string, reason: string, cause?: unknown) {
    super(`The database directory ${directory} cannot be used: ${reason}`, { cause });
    this.name = "DatabaseDirectoryError";
  }
}

/**
 * Creates `directory` when it is missing, and claims it for this process: two processes would destroy its
 * data. The claim is a file beside it that holds the process id; one left by a process that is gone is taken
 * over. Resolves with the function that gives the claim up.
 */
export async function claimDirectory(directory: string): Promise<() => Promise<void>> {
  const claim = `${directory}.pid`;
  try {
    await mkdir(directory, { recursive: true });
    await removeStaleClaim(directory, claim);
    await writeFile(claim, String(process.pid), { flag: "wx" }).catch((error) => {
      if (codeOf(error) !== "EEXIST") throw error;
      throw new DatabaseDirectoryError(directory, "another process has just begun to use it.");
    });
  } catch (error) {
    if (error instanceof DatabaseDirectoryError) throw error;
    throw new DatabaseDirectoryError(directory, reasonOf(error), error);
  }
  return () => rm(claim, { force: true });
}

async function removeStaleClaim(directory: string, claim: string): Promise<void> {
  const holder = await readFile(claim, "utf8").catch((error) => {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  });
  if (holder === null) return;
  if (isRunning(Number(holder))) {
    throw new DatabaseDirectoryError(directory, `process ${holder} is using it.`);
  }
  await rm(claim, { force: true });
}

/** A claim with this process's own id was left by an earlier one, in a container that was started again. */
function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case "EACCES":
    case "EPERM":
      return "permission denied.";
    case "EROFS":
      return "the file system is read-only.";
    case "ENOTDIR":
    case "EEXIST":
      return "there is a file in its place.";
    case "ENOSPC":
      return "the disk is full.";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
