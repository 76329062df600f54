import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leash } from "./processes/clean-up-after-kill.ts";

const ofFile = new Set<string>();

/**
 * Creates a folder in `within`, by default the system's temporary folder. The folder is removed after the last
 * test of the current test file. In a process without tests, the folder is removed when the process ends.
 */
export function temporaryFolder(name: string, within = tmpdir()): string {
  const path = lastingFolder(name, within);
  ofFile.add(path);
  return path;
}

/** Creates a folder that several test files share. It is removed when the process ends. */
export function lastingFolder(name: string, within = tmpdir()): string {
  const path = mkdtempSync(join(within, `ostiary-${name}-`));
  leash().directory(path);
  return path;
}

/** Removes a folder of this process early, because its content may be large. */
export async function removeFolder(path: string): Promise<void> {
  ofFile.delete(path);
  await rm(path, { recursive: true, force: true });
  leash().release(path);
}

/** Removes the temporary folders of a test file. The leash removes those that a process still writes to. */
export async function removeFoldersOfFile(): Promise<void> {
  await Promise.allSettled([...ofFile].map(removeFolder));
}
