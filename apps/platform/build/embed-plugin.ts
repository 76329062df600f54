import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { bundlePortal } from "@ostiary/portal/bundle";
import { bundleConsole } from "@ostiary/registry/console/bundle";
import type { BunPlugin } from "bun";
import { embeddedFiles, ROOT } from "./embedded-files.ts";

/** Modules of packages that read files from their own folder. `as` returns the code that replaces `place`. */
const PLACED = [
  { modules: /\/@electric-sql\/pglite\/dist\/[^/]+\.js$/, place: "import.meta.url", as: urlInExecutable },
  { modules: /\/etcd3\/lib\/connection-pool\.js$/, place: "__dirname", as: folderInExecutable },
];

/** The modules that bundle pages from source. An executable contains the bundles instead of the source. */
const CONSOLE = /\/apps\/registry\/console\/bundle\.ts$/;
const PORTAL = /\/apps\/portal\/site\/bundle\.ts$/;

/**
 * Puts the files of `embeddedFiles` and the bundled pages into an executable. Rewrites modules that look for files
 * in their own folder, because all modules of an executable are at its root.
 */
export async function embedPlugin(entry: string): Promise<BunPlugin> {
  // These builds run first, because a build inside a build never ends.
  const [files, console, portal] = await Promise.all([embeddedFiles(), bundleConsole(), bundlePortal()]);
  return {
    name: "embedded files",
    setup(build) {
      const imports = files.map(
        (file) => `import ${JSON.stringify(join(ROOT, file))} with { type: "file" };\n`,
      );
      build.onLoad({ filter: new RegExp(`${RegExp.escape(entry)}$`) }, async ({ path }) => ({
        contents: imports.join("") + (await readFile(path, "utf8")),
        loader: "ts",
      }));
      build.onLoad({ filter: CONSOLE }, () => ({
        contents: `export const bundleConsole = async () => (${JSON.stringify(console)});`,
        loader: "js",
      }));
      build.onLoad({ filter: PORTAL }, () => ({
        contents: `export const bundlePortal = async () => (${JSON.stringify(portal)});`,
        loader: "js",
      }));
      for (const { modules, place, as } of PLACED) {
        build.onLoad({ filter: modules }, async ({ path }) => ({
          contents: (await readFile(path, "utf8")).replaceAll(place, as(relative(ROOT, path))),
          loader: "js",
        }));
      }
    },
  };
}

function urlInExecutable(module: string): string {
  return `new URL(${JSON.stringify(module)}, Bun.pathToFileURL(Bun.main)).href`;
}

function folderInExecutable(module: string): string {
  return `require("node:path").join(Bun.main, "..", ${JSON.stringify(module)}, "..")`;
}
