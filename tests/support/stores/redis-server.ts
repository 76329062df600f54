import { Redis } from "ioredis";
import { freePort } from "../http/free-port.ts";
import { lastingFolder } from "../temporary-folder.ts";
import { BinaryTestServer, startOnFreePorts } from "./binary-server.ts";

/** The number of databases of a server that this file starts. Each test uses its own database. */
export const REDIS_DATABASES = 4096;

/** Starts a new, empty Redis from its binary, on its own ports. The server does not persist its data. */
export function startRedisBinary(binary: string, settings: string[] = []): Promise<BinaryTestServer> {
  return startOnFreePorts(() => redisOnFreePorts(binary, settings));
}

function redisOnFreePorts(binary: string, settings: string[]): BinaryTestServer {
  const directory = lastingFolder("redis");
  const port = freePort();
  const url = `redis://127.0.0.1:${port}`;
  return new BinaryTestServer({
    url,
    directory,
    command: [
      binary,
      ...["--port", String(port), "--bind", "127.0.0.1", "--dir", directory, "--save", ""],
      ...["--databases", String(REDIS_DATABASES), ...settings],
      // The default port for other nodes of a cluster is 10 000 above the server's port and may be in use.
      ...(settings.includes("--cluster-enabled") ? ["--cluster-port", String(freePort())] : []),
    ],
    ready: () => responds(url),
    crash: "SIGKILL",
    shutdown: "SIGTERM",
  });
}

async function responds(url: string): Promise<boolean> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: null, connectTimeout: 500 });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.ping()) === "PONG";
  } finally {
    client.disconnect();
  }
}
