import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { tryJson } from "@ostiary/lib/domain/json";
import { StartRefused } from "@ostiary/lib/runtime/service";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { SCHEMAS } from "./schemas.ts";

const FILE = "manifest.json";
/** The version of the directory format. */
export const FORMAT = 1;
const BYTES_MAX = 1024 * 1024;

const SchemaOfDump = Type.Object(
  {
    name: Type.Union(SCHEMAS.map(({ name }) => Type.Literal(name))),
    /** The times of the applied migrations in the migration journal, which identify the migrations. */
    migrations: Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }),
  },
  { additionalProperties: false },
);

/** One file of `pg_dump`: the schemas of one database, as of one moment. */
const Dump = Type.Object(
  {
    // A bare name: a path from an altered manifest could lead out of the directory.
    file: Type.String({ pattern: "^[a-z]+(-[a-z]+)*\\.dump$" }),
    bytes: Type.Integer({ minimum: 1 }),
    sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    /** The major versions of the server and of `pg_dump`. */
    server_major: Type.Integer({ minimum: 1 }),
    pg_dump_major: Type.Integer({ minimum: 1 }),
    schemas: Type.Array(SchemaOfDump, { minItems: 1 }),
    /** The roles that own objects in the dump, or have rights on them. */
    roles: Type.Array(Type.String({ minLength: 1 })),
  },
  { additionalProperties: false },
);
export type Dump = Readonly<Static<typeof Dump>>;

/** The content of a backup. The manifest is written last, so a directory that contains it is complete. */
export const Manifest = Type.Object(
  {
    format: Type.Literal(FORMAT),
    /** The version of Ostiary that made the backup. */
    version: Type.String({ minLength: 1 }),
    created_at: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" }),
    dumps: Type.Array(Dump, { minItems: 1, maxItems: SCHEMAS.length }),
  },
  { additionalProperties: false },
);
export type Manifest = Readonly<Static<typeof Manifest>>;

/**
 * Writes the manifest atomically: after a crash, the file is complete or missing. A failure, such as a full disk,
 * leaves no file.
 */
export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  const path = join(directory, FILE);
  const part = `${path}.part`;
  const file = await open(part, "wx", 0o600);
  try {
    try {
      await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
    const folder = await open(directory);
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    for (const left of [part, path]) await rm(left, { force: true });
    throw error;
  }
}

/**
 * Reads and checks the manifest.
 * @throws StartRefused when the directory contains no complete backup, or a backup of a newer format
 */
export async function readManifest(directory: string): Promise<Manifest> {
  const path = join(directory, FILE);
  const value = tryJson(await textOf(directory, path));
  if (value === undefined) {
    throw new StartRefused(`${path} is not JSON: the file is damaged. Use another backup.`);
  }
  const format = Value.Check(Versioned, value) ? value.format : FORMAT;
  if (format > FORMAT) {
    throw new StartRefused(
      `The backup in ${directory} has format ${format}; this version reads format ${FORMAT}. Use the version of Ostiary that made the backup, or a newer one.`,
    );
  }
  if (!Value.Check(Manifest, value)) {
    const [first] = Value.Errors(Manifest, value);
    throw new StartRefused(
      `${path} is not a manifest of a backup (${first?.path || "/"}: ${first?.message}). Use another backup.`,
    );
  }
  checkSchemas(path, value);
  return value;
}

const Versioned = Type.Object({ format: Type.Integer() });

async function textOf(directory: string, path: string): Promise<string> {
  try {
    if ((await stat(path)).size > BYTES_MAX)
      throw new StartRefused(`${path} is not a manifest of a backup. Use another backup.`);
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    throw new StartRefused(
      `There is no complete backup in ${directory}: ${FILE}, which is written last, cannot be read. Use another backup.`,
      error,
    );
  }
}

function checkSchemas(path: string, { dumps }: Manifest): void {
  const found = dumps.flatMap(({ schemas }) => schemas.map(({ name }) => name)).toSorted();
  const files = new Set(dumps.map(({ file }) => file));
  const expected = SCHEMAS.map(({ name }) => name).toSorted();
  if (found.join() === expected.join() && files.size === dumps.length) return;
  throw new StartRefused(
    `${path} must name each of ${expected.join(", ")} exactly once. Use another backup.`,
  );
}
