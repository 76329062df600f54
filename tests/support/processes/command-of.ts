import { join } from "node:path";
import { ROOT } from "../root.ts";

/**
 * Returns the command that runs an entry file of an app. With an executable, as in `bun run verify`, services and
 * the command line run from it, because it starts in a fraction of the time.
 */
export function commandOf(entry: string): string[] {
  const { TEST_EXECUTABLE } = process.env;
  if (!TEST_EXECUTABLE || entry === "apps/platform/main.ts") return sourceOf(entry);
  if (/^apps\/(cli\/main|platform\/ostiary)\.ts$/.test(entry)) return [TEST_EXECUTABLE];
  const [, service] = /^apps\/(\w+)\/main\.ts$/.exec(entry) ?? [];
  return service === undefined ? sourceOf(entry) : [TEST_EXECUTABLE, service];
}

/** Returns the command that runs an entry file from its source. */
export function sourceOf(entry: string): string[] {
  return [process.execPath, join(ROOT, entry)];
}
