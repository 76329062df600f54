import { join } from "node:path";

/**
 * Returns the location of a file that ships with the program. `path` is its path in the repository. An executable
 * contains the files that `apps/platform/build/embedded-files.ts` lists.
 */
export function shippedFile(path: string): string {
  return join(ROOT, path);
}

// In an executable, all modules are in the root folder of its embedded file system.
const ROOT = Bun.isStandaloneExecutable ? import.meta.dir : join(import.meta.dir, "../..");
