import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BinaryTestServer } from "./binary-server.ts";
import { freePort } from "./free-port.ts";
import type { Leash } from "./leash.ts";
import type { TestServer } from "./server.ts";

/** A new, empty etcd from its binary, on ports of its own; its writes are not synced to disk unless told. */
export async function startEtcdBinary(
  binary: string,
  leash: Leash,
  flags: string[] = ["--unsafe-no-fsync"],
): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), "ostiary-etcd-"));
  const url = `http://127.0.0.1:${await freePort()}`;
  const peerUrl = `http://127.0.0.1:${await freePort()}`;
  const server = new BinaryTestServer(
    {
      url,
      directory,
      command: [
        binary,
        ...["--data-dir", join(directory, "data"), ...flags],
        ...["--listen-client-urls", url, "--advertise-client-urls", url],
        ...["--listen-peer-urls", peerUrl, "--initial-advertise-peer-urls", peerUrl],
        ...["--initial-cluster", `default=${peerUrl}`],
      ],
      ready: async () => (await fetch(`${url}/health`, { signal: AbortSignal.timeout(500) })).ok,
      crash: "SIGKILL",
      shutdown: "SIGTERM",
    },
    leash,
  );
  await server.start();
  return server;
}
