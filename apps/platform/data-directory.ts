import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { checkSigningKeyFile } from "@ostiary/audit/checkpoints/signing-key";
import { ConfigError } from "@ostiary/lib/runtime/config";
import {
  claimFolder,
  claimPath,
  openFolder,
  pgliteUrl,
  UnusableFolder,
} from "@ostiary/lib/runtime/stores/database";

/** Where the platform keeps what must outlive it. */
export interface DataDirectory {
  readonly database_url: string;
  readonly log_file: string;
  readonly admin_token_file: string;
  readonly signing_key_file: string;
  /** Lets another process have it. */
  close(): Promise<void>;
}

/**
 * Makes `path` ready and holds it for this process alone; with `fresh`, what it held is deleted first. Refuses
 * a directory that it can't write, or that another platform uses.
 */
export async function openDataDirectory(path: string, fresh: boolean): Promise<DataDirectory> {
  const root = resolve(path);
  const giveUp = await withReason(root, async () => claimPath(join(await openFolder(root), "platform")));
  const directory = {
    database_url: pgliteUrl(join(root, "database")),
    log_file: join(root, "ostiary.log"),
    admin_token_file: join(root, "admin-token"),
    signing_key_file: join(root, "audit-signing-key.pem"),
    close: giveUp,
  };
  if (!fresh) return directory;
  try {
    await withReason(root, () => clear(root));
    return directory;
  } catch (error) {
    await giveUp();
    throw error;
  }
}

async function withReason<T>(root: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnusableFolder)) throw error;
    throw unusable(root, error.reason);
  }
}

function unusable(root: string, reason: string): ConfigError {
  return new ConfigError([{ variable: "DATA_DIR", message: `is ${root}, which can not be used: ${reason}` }]);
}

/** Deletes what earlier starts left: nothing that is not a database of ours, and none that a process uses. */
async function clear(root: string): Promise<void> {
  const database = join(root, "database");
  if (!(await isOurs(root, database))) {
    throw new UnusableFolder(root, "its folder database holds something else, which --fresh would delete.");
  }
  const giveUp = await claimFolder(database);
  try {
    for (const name of ["database", "admin-token", "audit-signing-key.pem", "ostiary.log"]) {
      await rm(join(root, name), { recursive: true, force: true });
    }
  } finally {
    await giveUp();
  }
}

/** A database whose creation broke off has no PG_VERSION yet, but there is the lock of the process that tried. */
async function isOurs(root: string, database: string): Promise<boolean> {
  const found = await readdir(database).catch((): string[] => []);
  return (
    found.length === 0 || found.includes("PG_VERSION") || (await readdir(root)).includes("database.lock")
  );
}

/** The key that signs the audit log's checkpoints in this directory, made at the first start; its path. */
export async function signingKey(file: string): Promise<string> {
  const { privateKey } = generateKeyPairSync("ed25519");
  try {
    await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) {
      throw unusable(dirname(file), "its file audit-signing-key.pem can not be written.");
    }
  }
  const [problem] = checkSigningKeyFile({ AUDIT_SIGNING_KEY_FILE: file });
  if (problem === undefined) return file;
  throw unusable(dirname(file), `its file audit-signing-key.pem ${problem.message}`);
}

const TOKEN_BYTES = 24;

/** The admin token of this directory: `given` one, else the one kept in the file, made at the first start. */
export async function adminToken(file: string, given: string | undefined): Promise<string> {
  const kept = given ?? (await readFile(file, "utf8").catch(() => "")).trim();
  if (given === undefined && kept !== "") return kept;
  const token = kept || randomBytes(TOKEN_BYTES).toString("base64url");
  try {
    await writeFile(file, token, { mode: 0o600 });
  } catch {
    throw unusable(dirname(file), "its file admin-token can not be written.");
  }
  return token;
}
