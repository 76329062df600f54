/**
 * Lets tests create embedded databases as copies of an empty database, because a copy takes a quarter of the
 * CPU time. The tests of database folders in `tests/stores` and the test of the tour do not use copies.
 */
import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import { ROOT } from "../root.ts";

const FOLDER = join(ROOT, "node_modules/.cache/ostiary");
const create = PGlite.create.bind(PGlite);

let template: Promise<Blob> | undefined;

/**
 * Returns the files of an empty database. The first caller creates them and caches them for this version of
 * PGlite.
 */
async function emptyDatabase(): Promise<Blob> {
  const program = Bun.file(fileURLToPath(import.meta.resolve("@electric-sql/pglite/pglite.wasm")));
  const path = join(FOLDER, `pglite-${Bun.hash(await program.arrayBuffer()).toString(16)}.tar`);
  if (!existsSync(path)) {
    const database = await create();
    const files = await database.dumpDataDir("none");
    await database.close();
    await mkdir(FOLDER, { recursive: true });
    // The rename is atomic, so that another process never reads an incomplete file.
    const unfinished = `${path}.${process.pid}`;
    await Bun.write(unfinished, files);
    await rename(unfinished, path);
  }
  return Bun.file(path);
}

/**
 * From now on, new databases are copies of an empty database. Databases in folders are copies only with
 * `folders`.
 */
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
