import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, cp, mkdir, readdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { StartRefused } from "@ostiary/lib/runtime/service";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import { knownMigrations } from "@ostiary/lib/runtime/stores/database";
import { loadBackupConfig } from "@ostiary/platform/backup/config";
import { createBackup } from "@ostiary/platform/backup/create";
import { restoreBackup } from "@ostiary/platform/backup/restore";
import { freshDatabase, rejection } from "../../support/index.ts";
import { pathWith } from "../../support/path-with.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import {
  ask,
  backUp,
  isAble,
  newMigrated,
  newPath,
  restore,
  runOstiary,
  SCHEMAS,
  schemasOf,
  silent,
  surroundings,
} from "./bed.ts";

setDefaultTimeout(120_000);

const DUMP = "routes-identity-audit.dump";

type Manifest = Record<string, unknown> & { dumps: Record<string, unknown>[] };
type Change = (manifest: Manifest) => unknown;

const withFields = (fields: object) => (manifest: Manifest) => ({ ...manifest, ...fields });

const knownOf = (schema: string) => [...knownMigrations(shippedFile(`drizzle/${schema}`))];

function withDump(fields: object): Change {
  return (manifest) => ({ ...manifest, dumps: manifest.dumps.map((dump) => ({ ...dump, ...fields })) });
}

const version = (major: number) => `[ "$1" = --version ] && exec echo "x (PostgreSQL) ${major}.1"`;

describe("the environment variables of ostiary backup", () => {
  test.each<[Record<string, string>, string]>([
    [{}, "DATABASE_URL is required: it names the database of the schema routes."],
    [
      { REGISTRY_DATABASE_URL: "postgres://h/a", IDENTITY_DATABASE_URL: "postgres://h/b" },
      "AUDIT_DATABASE_URL is required: it names the database of the schema audit.",
    ],
    [{ DATABASE_URL: "pglite://memory" }, "DATABASE_URL names an embedded database: "],
    [{ DATABASE_URL: "mysql://h/a" }, "DATABASE_URL must be postgres://"],
    [
      { DATABASE_URL: "postgres://h/a", AUDIT_DATABASE_URL: "nonsense" },
      "AUDIT_DATABASE_URL must be postgres://",
    ],
    [{ DATABASE_URL: "postgres://h/a", DATABASE_CA_FILE: "/none" }, "DATABASE_CA_FILE must be a file"],
  ])("%j are refused: %s", (env, message) => {
    expect(() => loadBackupConfig(env)).toThrow(message);
  });

  // OP-64
  test("cause exit code 78 when one is wrong; wrong usage has exit code 2", async () => {
    const wrong = await runOstiary(["create", "/nowhere/backup"], { DATABASE_URL: "pglite://memory" });
    expect(wrong).toMatchObject({ exitCode: 78, stdout: "" });
    expect(wrong.stderr).toContain("names an embedded database");
    expect(await runOstiary(["create"])).toMatchObject({ exitCode: 2, stdout: "" });
    expect(await runOstiary(["restore", "one", "two"])).toMatchObject({ exitCode: 2, stdout: "" });
  });
});

describe.skipIf(!isAble)("a backup", () => {
  let url = "";
  let whole = "";
  beforeAll(async () => {
    url = await newMigrated(...SCHEMAS);
    whole = await backUp(url);
  });

  /**
   * Copies the complete backup and changes the manifest of the copy. Writes a string as it is, other values
   * as JSON.
   */
  async function changed(change: Change) {
    const directory = join(temporaryFolder("backup"), "copy");
    await cp(whole, directory, { recursive: true });
    const file = Bun.file(join(directory, "manifest.json"));
    const result = change(await file.json());
    await Bun.write(file, typeof result === "string" ? result : JSON.stringify(result));
    return directory;
  }

  async function refusal(work: Promise<unknown>): Promise<string> {
    const error = await rejection(work);
    expect(error).toBeInstanceOf(StartRefused);
    return String(error);
  }

  // OP-64, OP-65
  test.each<[string, Change, string]>([
    ["is not JSON", () => "{", "is not JSON: the file is damaged."],
    ["is empty", () => " ", "is not JSON"],
    ["is a list", () => [], "is not a manifest of a backup"],
    ["is nested too deeply", () => "[".repeat(200_000), "is not JSON"],
    ["is huge", () => "x".repeat(2_000_000), "is not a manifest of a backup."],
    ["has a newer format", withFields({ format: 2 }), "has format 2; this version reads format 1."],
    ["has an unknown field", withFields({ more: 1 }), "is not a manifest of a backup (/more: "],
    ["lacks the time", withFields({ created_at: undefined }), "(/created_at: "],
    ["has no dump", withFields({ dumps: [] }), "(/dumps: "],
    ["has a string in place of a number", withDump({ bytes: "1" }), "(/dumps/0/bytes: "],
    ["has a short checksum", withDump({ sha256: "abc" }), "(/dumps/0/sha256: "],
    ["names a file outside of the directory", withDump({ file: "../other.dump" }), "(/dumps/0/file: "],
    ["has an unknown schema", withDump({ schemas: [{ name: "public", migrations: [1] }] }), "/name: "],
    [
      "lacks a schema",
      withDump({ schemas: [{ name: "routes", migrations: [1] }] }),
      "must name each of audit, identity, routes exactly once.",
    ],
    [
      "names a file twice",
      (manifest) => ({ ...manifest, dumps: [...manifest.dumps, ...manifest.dumps] }),
      "must name each of",
    ],
  ])("is refused when its manifest %s, and nothing is written", async (_, change, message) => {
    const target = await freshDatabase();
    expect(await refusal(restore(await changed(change), target))).toContain(message);
    expect(await schemasOf(target)).toEqual([]);
  });

  // OP-64
  test.each<[string, (path: string) => Promise<unknown>, string]>([
    ["is missing", (path) => rm(path), "The backup lacks "],
    [
      "is truncated",
      async (path) => Bun.write(path, (await Bun.file(path).bytes()).subarray(0, -1)),
      "is damaged",
    ],
    [
      "has one changed byte",
      async (path) => {
        const bytes = await Bun.file(path).bytes();
        bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
        await Bun.write(path, bytes);
      },
      "does not have the checksum in the manifest",
    ],
  ])("is refused when its dump %s, and nothing is written", async (_, damage, message) => {
    const directory = await changed((manifest) => manifest);
    await damage(join(directory, DUMP));
    const target = await freshDatabase();
    expect(await refusal(restore(directory, target))).toContain(message);
    expect(await schemasOf(target)).toEqual([]);
  });

  // OP-65
  test("is refused when a newer version of Ostiary made it", async () => {
    const schemas = SCHEMAS.map((name) => ({
      name,
      migrations: name === "audit" ? [9_000_000_000_000, 9_000_000_000_001] : knownOf(name),
    }));
    const newer = withDump({ schemas });
    const directory = await changed((manifest) => newer({ ...manifest, version: "9.0.0" }));
    const target = await freshDatabase();
    expect(await refusal(restore(directory, target))).toContain(
      "The backup is from Ostiary 9.0.0: its schema audit has 2 migrations that this version does not know.",
    );
    expect(await schemasOf(target)).toEqual([]);
  });

  // OP-65
  test("is refused when it is from a newer PostgreSQL or a newer pg_dump", async () => {
    const target = await freshDatabase();
    const server = await changed(withDump({ server_major: 99 }));
    expect(await refusal(restore(server, target))).toContain("The backup is from PostgreSQL 99");
    const program = await changed(withDump({ pg_dump_major: 99 }));
    expect(await refusal(restore(program, target))).toContain("the backup was made by pg_dump 99.");
    expect(await schemasOf(target)).toEqual([]);
  });

  // OP-65
  test("is refused when the server lacks roles, and each role is named", async () => {
    const directory = await changed(withDump({ roles: ["postgres", "no one", 'a"b'] }));
    const target = await freshDatabase();
    expect(await refusal(restore(directory, target))).toContain(
      'does not have the roles no one, a"b that own',
    );
    expect(await schemasOf(target)).toEqual([]);
  });

  // OP-65
  test.each([...SCHEMAS])("is not restored into a database that has the schema %s", async (schema) => {
    const target = await freshDatabase();
    await ask(target, `create schema ${schema}`);
    expect(await refusal(restore(whole, target))).toContain(
      `The database already has the schemas ${schema}.`,
    );
    expect(await schemasOf(target)).toEqual([schema]);
  });

  // OP-65
  test("is not restored into two databases when it was made from one", async () => {
    const config = { DATABASE_URL: await freshDatabase(), AUDIT_DATABASE_URL: await freshDatabase() };
    const restored = restoreBackup(config, whole, surroundings(), silent);
    expect(await refusal(restored)).toContain("Set the variables of these services to the same database.");
  });

  // OP-64
  test.each<[string, (place: string) => string, string]>([
    ["is not empty", (place) => place, "is not empty"],
    ["is a file", (place) => join(place, "file"), "cannot be read"],
    ["has no parent", (place) => join(place, "a", "b"), "cannot be created"],
    ["is a broken link", (place) => join(place, "link"), "cannot be read"],
    ["contains a complete backup", () => whole, "is not empty. Name a new directory for each backup."],
  ])("is not made in a directory that %s", async (_, inPlace, message) => {
    const place = temporaryFolder("backup");
    await Bun.write(join(place, "file"), "");
    await symlink("/none/x", join(place, "link"));
    const directory = inPlace(place);
    const before = await readdir(whole);
    const created = createBackup({ DATABASE_URL: url }, directory, surroundings(), silent);
    expect(await refusal(created)).toContain(message);
    expect(await readdir(whole)).toEqual(before);
  });

  // OP-64
  test("is not made from a database that lacks one of the schemas", async () => {
    const directory = newPath();
    const empty = createBackup({ DATABASE_URL: await freshDatabase() }, directory, surroundings(), silent);
    expect(await refusal(empty)).toContain("The database has no schema routes of Ostiary.");
    const bare = await newMigrated("routes", "identity");
    const partly = createBackup({ DATABASE_URL: bare }, directory, surroundings(), silent);
    expect(await refusal(partly)).toContain("The database has no schema audit of Ostiary.");
  });

  // OP-64
  test("needs pg_dump and pg_restore on the PATH, with a version that is known and new enough", async () => {
    const none = temporaryFolder("backup");
    await mkdir(join(none, "bin"));
    await chmod(join(none, "bin"), 0o755);
    const create = async (path: string) =>
      refusal(createBackup({ DATABASE_URL: url }, newPath(), surroundings(path), silent));
    expect(await create(join(none, "bin"))).toContain("pg_dump is not on the PATH.");
    expect(await create(pathWith({ pg_dump: "echo hello" }))).toContain("does not print a version");
    expect(await create(pathWith({ pg_dump: version(9) }))).toContain(
      "Install the client programs of PostgreSQL",
    );
    const target = await freshDatabase();
    const restored = async (path: string) =>
      refusal(restoreBackup({ DATABASE_URL: target }, whole, surroundings(path), silent));
    expect(await restored(join(none, "bin"))).toContain("pg_restore is not on the PATH.");
    expect(await restored(pathWith({ pg_restore: version(9) }))).toContain("was made by pg_dump");
    expect(await schemasOf(target)).toEqual([]);
  });
});
