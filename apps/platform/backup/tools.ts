import { databaseUsesTls, type Environment } from "@ostiary/lib/runtime/config";
import { StartRefused } from "@ostiary/lib/runtime/service";
import type { BackupConfig } from "./config.ts";

/** A program of PostgreSQL, and the first part of its version. */
export interface Tool {
  readonly path: string;
  readonly major: number;
}

export type ToolName = "pg_dump" | "pg_restore";

const VERSION = /\(PostgreSQL\) (\d+)/;

/** @throws StartRefused when the program is not on the path, or does not tell its version */
export function findTool(name: ToolName, env: Environment): Tool {
  const path = Bun.which(name, { PATH: env.PATH ?? "" });
  if (path === null) {
    throw new StartRefused(
      `${name} is not on the PATH. Install the client programs of PostgreSQL (Debian: apt-get install postgresql-client).`,
    );
  }
  const { stdout } = Bun.spawnSync([path, "--version"], { env: { PATH: env.PATH ?? "" }, stderr: "ignore" });
  const [, major] = VERSION.exec(stdout.toString()) ?? [];
  if (major === undefined) throw new StartRefused(`${path} --version does not tell a version of PostgreSQL.`);
  return { path, major: Number(major) };
}

/** How a program of PostgreSQL connects: its `--dbname`, and variables with everything that is secret. */
export interface Connection {
  readonly dbname: string;
  readonly variables: Readonly<Record<string, string>>;
}

const PARTS = /^(postgres(?:ql)?:\/\/)(?:([^@/]*)@)?([^/?#]*)(\/[^?#]*)?/;

/** The first version whose programs know the public CAs of the system. */
const KNOWS_PUBLIC_CAS = 16;

/**
 * Returns how a program connects to a database URL. `dbname` has no password and no options.
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

/** Certificates are checked as the services check them, or TLS is off. */
function tlsOf(url: string, config: BackupConfig, tool: Tool): Record<string, string> {
  if (!databaseUsesTls(url)) return { PGSSLMODE: "disable" };
  const { DATABASE_CA_FILE, DATABASE_CERT_FILE, DATABASE_KEY_FILE } = config;
  if (DATABASE_CA_FILE === undefined && tool.major < KNOWS_PUBLIC_CAS) {
    throw new StartRefused(
      `${tool.path} of PostgreSQL ${tool.major} does not know the public CAs. Set DATABASE_CA_FILE, or install the client programs of PostgreSQL ${KNOWS_PUBLIC_CAS}.`,
    );
  }
  return {
    PGSSLMODE: "verify-full",
    PGSSLROOTCERT: DATABASE_CA_FILE ?? "system",
    ...(DATABASE_CERT_FILE !== undefined && { PGSSLCERT: DATABASE_CERT_FILE }),
    ...(DATABASE_KEY_FILE !== undefined && { PGSSLKEY: DATABASE_KEY_FILE }),
  };
}

/** Where programs run: the operator's environment, and a signal that ends them. */
export interface Surroundings {
  readonly env: Environment;
  readonly signal: AbortSignal;
}

/** Returns the variables of a program: where programs and passwords are, and the connection's. */
export function variablesOf(env: Environment, { variables }: Connection): Record<string, string> {
  const kept = ["PATH", "HOME", "PGPASSFILE"].flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(kept), LC_ALL: "C.UTF-8", ...variables };
}

const SAID_MAX = 2_000;

/** @throws when the program failed, with the end of what it said */
export async function ended(name: ToolName, child: Bun.Subprocess, stderr: Promise<string>): Promise<void> {
  const [code, said] = await Promise.all([child.exited, stderr]);
  if (code !== 0)
    throw new Error(`${name} failed: ${said.trim().slice(-SAID_MAX) || `it ended with ${code}`}`);
}
