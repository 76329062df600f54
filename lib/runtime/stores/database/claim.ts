import { Database as Sqlite } from "bun:sqlite";
import { readFile, rm, writeFile } from "node:fs/promises";

/** Somebody else holds what was to be claimed. */
export class Claimed extends Error {
  /** The process that holds it, where that is known. */
  readonly holder: number | null;

  constructor(path: string, holder: number | null) {
    super(`${path} is claimed by ${holder === null ? "another process" : `process ${holder}`}.`);
    this.name = "Claimed";
    this.holder = holder;
  }
}

/**
 * Claims `path` for the caller; `Claimed` when somebody else has. Resolves with the function that gives it up.
 *
 * The claim is SQLite's lock on an empty file beside it, which the kernel drops by itself when the process
 * dies, whatever its death. So a claim can neither be left over nor taken by two at once, also by processes
 * that do not see each other's ids. The file stays: were it deleted, two could hold locks on two files of one
 * name. The id in `.pid` is for people only.
 */
export async function claim(path: string): Promise<() => Promise<void>> {
  const lock = new Sqlite(`${path}.lock`);
  const pid = `${path}.pid`;
  try {
    lock.run("begin exclusive");
    await writeFile(pid, String(process.pid));
  } catch (error) {
    lock.close();
    if (isBusy(error)) throw new Claimed(path, await holderOf(pid));
    throw error;
  }
  return async () => {
    await rm(pid, { force: true });
    lock.close();
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "SQLITE_BUSY";
}

async function holderOf(pid: string): Promise<number | null> {
  const text = await readFile(pid, "utf8").catch(() => "");
  return /^\d+$/.test(text) ? Number(text) : null;
}
