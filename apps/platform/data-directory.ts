import { generateKeyPairSync, randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { chmod, lstat, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { checkSigningKeyFile } from "@ostiary/audit/signing-keys";
import { checkStreamKeyFile } from "@ostiary/audit/streams/secrets";
import { systemErrorCode } from "@ostiary/lib/domain/errors";
import {
  claimHolder,
  claimPath,
  DirectoryInUse,
  openDirectory,
  UnusableDirectory,
} from "@ostiary/lib/runtime/claimed-directory";
import { ConfigError, type ConfigProblem } from "@ostiary/lib/runtime/config";
import { pgliteUrl } from "@ostiary/lib/runtime/stores/database";

export const STREAM_KEYS = "audit-stream-keys";
const STREAM_KEY_BYTES = 32;

/**
 * Prepares the directory `path`, whose files the platform keeps between starts, and claims it for this process. Refuses
 * a directory that cannot be written, or that another platform uses. `close` releases the directory.
 */
export async function openDataDirectory(path: string) {
  const root = resolve(path);
  const close = await claim(root);
  return {
    databaseUrl: pgliteUrl(join(root, "database")),
    logFile: join(root, "ostiary.log"),
    adminTokenFile: join(root, "admin-token"),
    internalTokenFile: join(root, "internal-token"),
    signingKeyFile: join(root, "audit-signing-key.pem"),
    streamKeyFile: join(root, STREAM_KEYS),
    close,
  };
}

/**
 * Reports the platform that already runs in the directory. Passed to `loadConfig`, where it runs before the check of
 * the ports.
 */
export function checkDataDirectory({ DATA_DIR }: { DATA_DIR?: string }): ConfigProblem[] {
  if (DATA_DIR === undefined) return [];
  const root = resolve(DATA_DIR);
  const holder = claimHolder(join(realPathOf(root), CLAIM));
  return holder === null ? [] : [...unusable(root, alreadyRuns(holder)).problems];
}

/** The name of the platform's claim in its directory. */
const CLAIM = "platform";

async function claim(root: string): Promise<() => Promise<void>> {
  try {
    return await claimPath(join(await openDirectory(root), CLAIM));
  } catch (error) {
    if (!(error instanceof UnusableDirectory)) throw error;
    throw unusable(root, error instanceof DirectoryInUse ? alreadyRuns(error.holder) : error.reason);
  }
}

function alreadyRuns(holder: string): string {
  return `Ostiary already runs there, as ${holder}: use that Ostiary, or stop it first.`;
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // the directory does not exist, so no platform runs in it
  }
}

function unusable(root: string, reason: string): ConfigError {
  return new ConfigError([{ variable: "DATA_DIR", message: `is ${root}, which cannot be used: ${reason}` }]);
}

/**
 * Creates the key that signs the roots of the audit log, unless the file exists. Returns the file's path.
 */
export async function signingKey(file: string): Promise<string> {
  const { privateKey } = generateKeyPairSync("ed25519");
  await create(file, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  return checked(file, checkSigningKeyFile({ AUDIT_SIGNING_KEY_FILE: file }));
}

/**
 * Creates the key that encrypts the secrets of streams, unless the file exists (OP-61). Returns the file's
 * path.
 */
export async function streamKeys(file: string): Promise<string> {
  await create(file, `${randomBytes(STREAM_KEY_BYTES).toString("base64")}\n`);
  return checked(file, checkStreamKeyFile({ AUDIT_STREAM_KEY_FILE: file }));
}

/** Creates the file of the log, which only this user may read, unless it exists. */
export async function logFile(file: string): Promise<string> {
  await create(file, "");
  return file;
}

/** Creates a file that only this user may read, unless it exists. */
async function create(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return;
    throw unusable(dirname(file), `its file ${basename(file)} cannot be written.`);
  }
}

function checked(file: string, [problem]: readonly ConfigProblem[]): string {
  if (problem === undefined) return file;
  throw unusable(dirname(file), `its file ${basename(file)} ${problem.message}`);
}

const TOKEN_BYTES = 24;

/**
 * Returns a token of the platform: `given`, otherwise the token in the file, otherwise a new token. Writes a given or
 * new token to the file, which only this user may read.
 */
export async function tokenFrom(file: string, given: string | undefined): Promise<string> {
  const kept = given === undefined ? await keptToken(file) : null;
  if (kept !== null) return kept;
  const token = given ?? randomBytes(TOKEN_BYTES).toString("base64url");
  try {
    // A new file: an older one could be a link, or a file that others may read.
    await rm(file, { force: true });
    await writeFile(file, token, { mode: 0o600, flag: "wx" });
  } catch {
    throw unusable(dirname(file), `its file ${basename(file)} cannot be written.`);
  }
  return token;
}

const TOKEN = /^[\x21-\x7e]+$/;
/** The permissions of users other than the owner of a file. */
const OTHERS = 0o077;

/** Returns the token in the file, which it closes to others. Returns null if the file is missing or empty. */
async function keptToken(file: string): Promise<string | null> {
  const [directory, name] = [dirname(file), basename(file)];
  const found = await lstat(file).catch(() => null);
  if (found === null) return null;
  // A file of another user contains a token that the other user knows.
  if (!found.isFile() || found.uid !== process.getuid?.()) {
    throw unusable(directory, `its file ${name} is not a file of this user: delete it for a new token.`);
  }
  if ((found.mode & OTHERS) !== 0) await chmod(file, 0o600);
  const token = (await readFile(file, "utf8")).trim();
  if (token !== "" && !TOKEN.test(token)) {
    throw unusable(
      directory,
      `its file ${name} is not one line of visible ASCII: delete it for a new token.`,
    );
  }
  return token || null;
}
