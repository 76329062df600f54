import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";

/**
 * New embedded databases of tests are copies of an empty one: a copy takes a quarter of the CPU time. The tests of folders
 * in `tests/stores` and of the tour make their databases as the product does.
 */

const FOLDER = join(import.meta.dir, "../../node_modules/.cache/ostiary");
const create = PGlite.create.bind(PGlite);

let template: Promise<Blob> | undefined;

/** Returns an empty database of this version of PGlite, which the first process that asks makes and keeps. */
async function emptyDatabase(): Promise<Blob> {
  const program = Bun.file(fileURLToPath(import.meta.resolve("@electric-sql/pglite/pglite.wasm")));
  const path = join(FOLDER, `pglite-${Bun.hash(await program.arrayBuffer()).toString(16)}.tar`);
  if (!existsSync(path)) {
    const database = await create();
    const files = await database.dumpDataDir("none");
    await database.close();
    await mkdir(FOLDER, { recursive: true });
    // Other processes find a whole file or none.
    const unfinished = `${path}.${process.pid}`;
    await Bun.write(unfinished, files);
    await rename(unfinished, path);
  }
  return Bun.file(path);
}

/** Makes new databases copies of an empty one: those in memory, and those in folders if `folders` says so. */
export function useEmbeddedTemplate({ folders }: { folders: boolean }): void {
  Reflect.set(PGlite, "create", async (given?: unknown) => {
    const isCopied =
      given === undefined || (folders && typeof given === "string" && !existsSync(join(given, "PG_VERSION")));
    if (!isCopied) return Reflect.apply(create, PGlite, [given]);
    template ??= emptyDatabase();
    const loadDataDir = await template;
    return create({ loadDataDir, ...(typeof given === "string" && { dataDir: given }) });
  });
}
