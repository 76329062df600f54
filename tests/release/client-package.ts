import { cp } from "node:fs/promises";
import { join } from "node:path";
import { $ } from "bun";
import client from "../../lib/client/package.json" with { type: "json" };
import { ROOT } from "../support/root.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { manifestOf, packFolder, repositoryOf } from "./pack.ts";

const SOURCE = join(ROOT, "lib/client");
const COMPILER = join(ROOT, "node_modules/typescript/bin/tsc");

/** Compiles `@ostiary/client` and packs it into `outdir`. Returns the path of the archive. */
export async function packClient(outdir: string, repository?: string): Promise<string> {
  const folder = temporaryFolder("client-package");
  await $`${process.execPath} ${COMPILER} -p ${SOURCE} --outDir ${folder}`;
  // The compiler rewrites the imports of modules, but not those of types.
  for await (const file of new Bun.Glob("*.d.ts").scan({ cwd: folder, absolute: true })) {
    const text = await Bun.file(file).text();
    await Bun.write(file, text.replaceAll(/(from "\.\/[a-z-]+)\.ts"/g, '$1.js"'));
  }
  await cp(join(SOURCE, "apis"), join(folder, "apis"), { recursive: true });
  await cp(join(SOURCE, "README.md"), join(folder, "README.md"));
  const exports = Object.entries(client.exports).map(([path, source]) => [path, publishedOf(source)]);
  const manifest = {
    ...manifestOf("@ostiary/client", "Calls the APIs of Ostiary from Node, Bun, Deno and browsers."),
    ...repositoryOf(repository, "lib/client"),
    sideEffects: false,
    engines: { node: ">=20.3" },
    exports: Object.fromEntries(exports),
    dependencies: client.dependencies,
  };
  return packFolder(folder, manifest, outdir);
}

/** Returns the published files of a source file. */
function publishedOf(source: string): Record<string, string> {
  if (source.endsWith(".d.ts")) return { types: source };
  return { types: source.replace(/\.ts$/, ".d.ts"), default: source.replace(/\.ts$/, ".js") };
}
