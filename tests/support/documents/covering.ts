/**
 * Prints the test files that import a file, directly or through other files, nearest first: `bun run covering
 * FILE`. It omits a test that starts a service as a process, because such a test does not import the service.
 */
import { dirname, join, relative } from "node:path";
import { ROOT } from "../root.ts";

const SOURCES = new Bun.Glob("{apps,lib,tests}/**/*.{ts,tsx}");

/** Returns the files that import each file, by the path of the imported file. */
async function readImporters(): Promise<ReadonlyMap<string, readonly string[]>> {
  const importers = new Map<string, string[]>();
  for await (const name of SOURCES.scan(ROOT)) {
    if (name.includes("node_modules") || name.endsWith(".d.ts")) continue;
    const file = join(ROOT, name);
    const loader = name.endsWith("x") ? "tsx" : "ts";
    const imports = new Bun.Transpiler({ loader }).scanImports(await Bun.file(file).text());
    for (const { path } of imports) {
      const imported = resolved(path, file);
      if (imported !== null) importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  return importers;
}

/** Returns the file of the repository that an import names. Returns null for a library or an unknown path. */
function resolved(path: string, importer: string): string | null {
  if (!path.startsWith(".") && !path.startsWith("@ostiary/")) return null;
  try {
    return Bun.resolveSync(path, dirname(importer));
  } catch {
    return null;
  }
}

/**
 * Returns the test files that import `file`, each with the length of its import chain, the shortest first.
 */
function testsOf(file: string, importers: ReadonlyMap<string, readonly string[]>): [string, number][] {
  const distances = new Map([[file, 0]]);
  for (const [each, distance] of distances) {
    for (const importer of importers.get(each) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1);
    }
  }
  return [...distances].filter(([each]) => each.endsWith(".test.ts"));
}

const [named] = process.argv.slice(2);
const file = named === undefined ? "" : join(process.cwd(), named);
if (await Bun.file(file).exists()) {
  for (const [test, distance] of testsOf(file, await readImporters())) {
    console.log(`${String(distance).padStart(2)} ${relative(ROOT, test)}`);
  }
} else {
  console.error("Name a file: bun run covering lib/domain/ratelimit/decide.ts");
  process.exitCode = 2;
}
