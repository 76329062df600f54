import { dirname, join } from "node:path";

const SOURCES = new Bun.Glob("{apps,lib,tests}/**/*.{ts,tsx}");

type Importers = ReadonlyMap<string, readonly string[]>;

/** Reads the imports of every file of a copy of the repository. */
export async function readImporters(root: string): Promise<Importers> {
  const importers = new Map<string, string[]>();
  for await (const name of SOURCES.scan(root)) {
    if (name.includes("node_modules") || name.endsWith(".d.ts")) continue;
    const file = join(root, name);
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

/** Returns the test files that import `file`, each with the length of its import chain, the shortest first. */
export function testsOf(file: string, importers: Importers): [string, number][] {
  const distances = new Map([[file, 0]]);
  for (const [each, distance] of distances) {
    for (const importer of importers.get(each) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1);
    }
  }
  return [...distances].filter(([each]) => each.endsWith(".test.ts"));
}
