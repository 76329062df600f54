import { chmodSync, chownSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { freePort } from "../http/free-port.ts";
import { lastingFolder } from "../temporary-folder.ts";
import { BinaryTestServer, startOnFreePorts } from "./binary-server.ts";
import { asAccount, unprivilegedAccount } from "./postgres-server.ts";

export const hasPgBouncer = pgBouncer() !== null;

function pgBouncer(): string | null {
  return Bun.which("pgbouncer") ?? Bun.which("pgbouncer", { PATH: "/usr/sbin" });
}

/**
 * Starts PgBouncer in front of the database at `databaseUrl`. `settings` are lines of its section `[pgbouncer]`
 * in addition to its defaults. The server's URL leads to the database.
 */
export function startPgBouncer(databaseUrl: string, settings: Record<string, string | number> = {}) {
  const target = new URL(databaseUrl);
  return startOnFreePorts(async () => {
    const directory = lastingFolder("pgbouncer");
    const port = freePort();
    const lines = {
      listen_addr: "127.0.0.1",
      listen_port: port,
      unix_socket_dir: "",
      auth_type: "any",
      ...settings,
    };
    const file = join(directory, "pgbouncer.ini");
    const name = target.pathname.slice(1);
    writeFileSync(
      file,
      `[databases]\n${name} = host=${target.hostname} port=${target.port} user=${target.username}\n[pgbouncer]\n${Object.entries(
        lines,
      )
        .map(([key, value]) => `${key} = ${value}\n`)
        .join("")}`,
    );
    const account = unprivilegedAccount();
    if (account !== undefined) chownSync(directory, account.uid, account.gid);
    chmodSync(file, 0o644);
    return new BinaryTestServer({
      url: `postgres://${target.username}@127.0.0.1:${port}/${name}`,
      directory,
      command: asAccount(account, [pgBouncer() ?? "pgbouncer", file]),
      ready: () => accepts(port),
      crash: "SIGKILL",
      shutdown: "SIGINT",
    });
  });
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: "127.0.0.1", port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", reject);
  });
}
