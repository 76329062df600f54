import { spawnSync } from "node:child_process";
import { chownSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { freePort } from "../http/free-port.ts";
import { runToEnd } from "../processes/run-to-end.ts";
import { lastingFolder } from "../temporary-folder.ts";
import { BinaryTestServer, startOnFreePorts } from "./binary-server.ts";

/**
 * Starts a new, empty PostgreSQL from the binaries in `bin`, on its own port. By default, the server does not
 * sync to disk, which is fast. `changes` overrides its settings. `variables` adds environment variables.
 */
export function startPostgresBinary(
  bin: string,
  changes: Record<string, string> = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<BinaryTestServer> {
  return startOnFreePorts(async () => {
    const made = newPostgres(bin, changes, variables);
    await initialize(bin, made);
    return made.server;
  });
}

export async function initialize(bin: string, { directory, data, account }: NewPostgres): Promise<void> {
  const initdb = asAccount(account, [
    join(bin, "initdb"),
    ...["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
  ]);
  await run(initdb, directory);
}

/** A PostgreSQL server whose data directory does not exist yet. */
export interface NewPostgres {
  readonly server: BinaryTestServer;
  readonly directory: string;
  readonly data: string;
  readonly account: Account | undefined;
}

/** Prepares a server with its own directory and port, but does not start it. */
export function newPostgres(
  bin: string,
  changes: Record<string, string> = {},
  variables: Readonly<Record<string, string>> = {},
): NewPostgres {
  const directory = lastingFolder("postgres");
  const account = unprivilegedAccount();
  if (account !== undefined) chownSync(directory, account.uid, account.gid);
  const data = join(directory, "data");
  const port = freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    fsync: "off",
    full_page_writes: "off",
    max_connections: 400,
    shared_buffers: "64MB",
    ...changes,
  };
  const server = new BinaryTestServer({
    url,
    directory,
    command: asAccount(account, [
      ...["env", ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)],
      join(bin, "postgres"),
      ...["-D", data],
      ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ]),
    ready: () => responds(url),
    crash: "SIGQUIT",
    shutdown: "SIGINT",
  });
  return { server, directory, data, account };
}

async function responds(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 1, onnotice: () => {} });
  try {
    await sql`select 1`;
    return true;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

export interface Account {
  uid: number;
  gid: number;
}

/**
 * Returns the account for the server, or undefined for the current account. PostgreSQL refuses to run as
 * root, so root runs it as `postgres` or `nobody`.
 */
export function unprivilegedAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const uid = spawnSync("id", ["-u", name], { encoding: "utf8" });
    const gid = spawnSync("id", ["-g", name], { encoding: "utf8" });
    if (uid.status === 0 && gid.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new Error(
    "PostgreSQL refuses to run as root, and there is no account postgres or nobody to run it as.",
  );
}

/**
 * Returns a command that runs `command` under an account. The returned command replaces itself with
 * `command`, so its process id is that of `command`.
 */
export function asAccount(account: Account | undefined, command: string[]): string[] {
  if (account === undefined) return command;
  return ["setpriv", `--reuid=${account.uid}`, `--regid=${account.gid}`, "--clear-groups", "--", ...command];
}

/**
 * Runs a program of PostgreSQL, which takes seconds. Does not block this process, in which servers and clients
 * under test may run.
 */
export async function run(command: readonly string[], cwd: string): Promise<void> {
  const { exitCode, stderr } = await runToEnd(command, { cwd });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${stderr}`);
}
