import { join } from "node:path";

/**
 * The files that the executable contains besides code, by their paths in the repository. `shippedFile` or the
 * modules of a package read these files.
 */
const EMBEDDED = [
  "drizzle/*/*.sql",
  "drizzle/*/meta/_journal.json",
  "seeds/*.yaml",
  "lib/page/styles/{base,shell,parts}.css",
  "lib/runtime/http/description-page.{js,css}",
  "node_modules/swagger-ui-dist/{swagger-ui-bundle.js,swagger-ui.css,favicon-32x32.png}",
  "node_modules/@electric-sql/pglite/dist/{pglite.wasm,pglite.data,initdb.wasm}",
  "node_modules/etcd3/proto/*.proto",
];

export const ROOT = join(import.meta.dir, "../../..");

/**
 * Returns the paths of all embedded files.
 * @throws Error if a pattern matches no file, because the executable would lack the file
 */
export async function embeddedFiles(): Promise<string[]> {
  const found = await Promise.all(
    EMBEDDED.map(async (pattern) => {
      const files = await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: ROOT }));
      if (files.length === 0) throw new Error(`There is no ${pattern} to embed: run bun install.`);
      return files;
    }),
  );
  return found.flat().toSorted();
}
