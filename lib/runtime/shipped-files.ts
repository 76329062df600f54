import { join } from "node:path";

/**
 * The path of a file that ships with the program, such as a migration, by its path in the repository. An executable
 * holds those that `apps/platform/build/embedded-files.ts` lists, in a tree of the same shape.
 */
export function shippedFile(path: string): string {
  return join(ROOT, path);
}

// every module of an executable lies at the root of what it holds
const ROOT = Bun.isStandaloneExecutable ? import.meta.dir : join(import.meta.dir, "../..");
