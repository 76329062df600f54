import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { BinaryTestServer } from "./binary-server.ts";
import type { Leash } from "./clean-up-after-kill.ts";
import { freePort } from "./free-port.ts";

/** The number of databases of a server that this file starts. Each test uses its own database. */
export const REDIS_DATABASES = 4096;

/** The number of databases of a Redis with its default settings. */
export const REDIS_DATABASES_DEFAULT = 16;

/** The number of attempts to start a server, because another process may take the free port first. */
const ATTEMPTS = 5;

/** Starts a new, empty Redis from its binary, on its own ports. The server does not persist its data. */
export async function startRedisBinary(
  binary: string,
  leash: Leash,
  settings: string[] = [],
): Promise<BinaryTestServer> {
  for (let attempt = 1; ; attempt++) {
    const server = await redisOnFreePorts(binary, leash, settings);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.close();
      if (attempt === ATTEMPTS || !String(error).includes("Address already in use")) throw error;
    }
  }
}

async function redisOnFreePorts(binary: string, leash: Leash, settings: string[]): Promise<BinaryTestServer> {
  const directory = await mkdtemp(join(tmpdir(), "ostiary-redis-"));
  const port = freePort();
  const url = `redis://127.0.0.1:${port}`;
  return new BinaryTestServer(
    {
      url,
      directory,
      command: [
        binary,
        ...["--port", String(port), "--bind", "127.0.0.1", "--dir", directory, "--save", ""],
        ...["--databases", String(REDIS_DATABASES), ...settings],
        // The default port for other nodes of a cluster is 10 000 above the server's port and may be in use.
        ...(settings.includes("--cluster-enabled") ? ["--cluster-port", String(freePort())] : []),
      ],
      ready: () => answers(url),
      crash: "SIGKILL",
      shutdown: "SIGTERM",
    },
    leash,
  );
}

async function answers(url: string): Promise<boolean> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: null, connectTimeout: 500 });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.ping()) === "PONG";
  } finally {
    client.disconnect();
  }
}
