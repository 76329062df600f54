/**
 * Prints the test files that import a file, directly or through other files, nearest first: `bun run covering
 * FILE`. It omits a test that starts a service as a process, because such a test does not import the service.
 */
import { join, relative } from "node:path";
import { ROOT } from "../support/root.ts";
import { readImporters, testsOf } from "./importers.ts";

const [named] = process.argv.slice(2);
const file = named === undefined ? "" : join(process.cwd(), named);
if (await Bun.file(file).exists()) {
  const lines = testsOf(file, await readImporters(ROOT)).map(
    ([test, distance]) => `${String(distance).padStart(2)} ${relative(ROOT, test)}\n`,
  );
  process.stdout.write(lines.join(""));
} else {
  process.stderr.write("Name a file: bun run covering lib/domain/ratelimit/decide.ts\n");
  process.exitCode = 2;
}
