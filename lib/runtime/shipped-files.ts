import { join } from "node:path";

/**
 * Returns the path of a file that ships with the program, such as a migration, from its path in the
 * repository. An executable holds the files that `apps/platform/build/embedded-files.ts` lists, in the same
 * tree.
 */
export function shippedFile(path: string): string {
  return join(ROOT, path);
}

// In an executable, every module lies at the root of its file system.
const ROOT = Bun.isStandaloneExecutable ? import.meta.dir : join(import.meta.dir, "../..");
