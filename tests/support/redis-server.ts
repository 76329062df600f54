import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { BinaryTestServer } from "./binary-server.ts";
import { freePort } from "./free-port.ts";
import type { Leash } from "./leash.ts";
import type { TestServer } from "./server.ts";

/** Each test takes a database of its own, by number. */
export const REDIS_DATABASES = 4096;

/** How many a Redis has that was not told otherwise. */
export const REDIS_DATABASES_DEFAULT = 16;

/** A new, empty Redis from its binary, on a port of its own; it keeps nothing over a restart. */
export async function startRedisBinary(
  binary: string,
  leash: Leash,
  settings: string[] = [],
): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), "ostiary-redis-"));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const server = new BinaryTestServer(
    {
      url,
      directory,
      command: [
        binary,
        ...["--port", String(port), "--bind", "127.0.0.1", "--dir", directory, "--save", ""],
        ...["--databases", String(REDIS_DATABASES), ...settings],
      ],
      ready: () => answers(url),
      crash: "SIGKILL",
      shutdown: "SIGTERM",
    },
    leash,
  );
  await server.start();
  return server;
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
