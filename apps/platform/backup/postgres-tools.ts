import { databaseUsesTls, type Environment } from "@ostiary/lib/runtime/config";
import { StartRefused } from "@ostiary/lib/runtime/service";
import type { BackupConfig } from "./config.ts";
import type { Say } from "./progress.ts";

/** A client program of PostgreSQL, and its major version. */
export interface Tool {
  readonly path: string;
  readonly major: number;
}

type ToolName = "pg_dump" | "pg_restore";

const VERSION = /\(PostgreSQL\) (\d+)/;

/**
 * Finds a client program and its version.
 * @throws StartRefused when the program is not on the PATH, or does not print its version
 */
export function findTool(name: ToolName, env: Environment): Tool {
  const path = Bun.which(name, { PATH: env.PATH ?? "" });
  if (path === null) {
    throw new StartRefused(
      `${name} is not on the PATH. Install the client programs of PostgreSQL (Debian: apt-get install postgresql-client).`,
    );
  }
  const { stdout } = Bun.spawnSync([path, "--version"], { env: { PATH: env.PATH ?? "" }, stderr: "ignore" });
  const [, major] = VERSION.exec(stdout.toString()) ?? [];
  if (major === undefined)
    throw new StartRefused(`${path} --version does not print a version of PostgreSQL.`);
  return { path, major: Number(major) };
}

/** The connection of a PostgreSQL program: the value for `--dbname`, and environment variables for all secrets. */
interface Connection {
  readonly dbname: string;
  readonly variables: Readonly<Record<string, string>>;
}

const PARTS = /^(postgres(?:ql)?:\/\/)(?:([^@/]*)@)?([^/?#]*)(\/[^?#]*)?/;

/** The first major version of PostgreSQL whose programs can use the system's public certificate authorities. */
const KNOWS_PUBLIC_CAS = 16;

/**
 * Returns the connection settings with which `tool` connects to the database at `url`. `dbname` has no password and
 * no query options; the environment variables have the password and the TLS settings.
 *
 * @throws StartRefused when the program is too old to check the server's certificate
 */
export function connectionTo(url: string, config: BackupConfig, tool: Tool): Connection {
  const [, scheme = "", credentials = "", hosts = "", path = ""] = PARTS.exec(url) ?? [];
  const [user = "", password] = credentials.split(":");
  return {
    dbname: `${scheme}${user === "" ? "" : `${user}@`}${hosts}${path}`,
    variables: {
      PGAPPNAME: "ostiary backup",
      PGCONNECT_TIMEOUT: "10",
      PGTARGETSESSIONATTRS: "read-write",
      ...(password !== undefined && { PGPASSWORD: decodeURIComponent(password) }),
      ...tlsOf(url, config, tool),
    },
  };
}

/** Returns the environment variables for TLS. If TLS is on, the server's certificate and name are checked. */
function tlsOf(url: string, config: BackupConfig, tool: Tool): Record<string, string> {
  if (!databaseUsesTls(url)) return { PGSSLMODE: "disable" };
  const { DATABASE_CA_FILE, DATABASE_CERT_FILE, DATABASE_KEY_FILE } = config;
  if (DATABASE_CA_FILE === undefined && tool.major < KNOWS_PUBLIC_CAS) {
    throw new StartRefused(
      `${tool.path} of PostgreSQL ${tool.major} cannot use the public CAs of the system. Set DATABASE_CA_FILE, or install the client programs of PostgreSQL ${KNOWS_PUBLIC_CAS}.`,
    );
  }
  return {
    PGSSLMODE: "verify-full",
    PGSSLROOTCERT: DATABASE_CA_FILE ?? "system",
    ...(DATABASE_CERT_FILE !== undefined && { PGSSLCERT: DATABASE_CERT_FILE }),
    ...(DATABASE_KEY_FILE !== undefined && { PGSSLKEY: DATABASE_KEY_FILE }),
  };
}

/** The environment in which programs run: the operator's variables, and a signal that ends the programs. */
export interface Surroundings {
  readonly env: Environment;
  readonly signal: AbortSignal;
}

/** The parameters of a run of a program on a backup. */
export interface ToolRun {
  readonly config: BackupConfig;
  /** The directory of the backup. */
  readonly directory: string;
  readonly tool: Tool;
  readonly surroundings: Surroundings;
  readonly say: Say;
}

/** Returns the environment of a program: the connection's variables, and the operator's PATH, HOME and PGPASSFILE. */
export function variablesOf(env: Environment, { variables }: Connection): Record<string, string> {
  const kept = ["PATH", "HOME", "PGPASSFILE"].flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(kept), LC_ALL: "C.UTF-8", ...variables };
}

const SAID_MAX = 2_000;

/**
 * Waits until a program exits.
 * @throws Error with the last part of the program's standard error if the program failed
 */
export async function ended(name: ToolName, child: Bun.Subprocess, stderr: Promise<string>): Promise<void> {
  const [code, said] = await Promise.all([child.exited, stderr]);
  if (code !== 0)
    throw new Error(`${name} failed: ${said.trim().slice(-SAID_MAX) || `the exit code is ${code}`}`);
}
