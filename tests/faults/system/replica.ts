import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BinaryTestServer } from "../../support/binary-server.ts";
import type { Leash } from "../../support/clean-up-after-kill.ts";
import { freePort } from "../../support/free-port.ts";
import { type Proxy as NetworkProxy, startProxy } from "../../support/proxy.ts";

const READY_TIMEOUT_MS = 1_000;

/** The time from the signal to a process until its end. */
export interface Stop {
  readonly signalled_ms: number;
  readonly ended_ms: number;
}

/** One process of a service, with the only ways that lead to it. */
export interface Replica {
  readonly name: string;
  readonly server: BinaryTestServer;
  /** The service, such as `identity`. */
  readonly app: string;
  /** Stops it in order, and starts it from another folder of the source. Returns when it stopped. */
  replaceBy(root: string): Promise<Stop>;
  /** The process's own addresses. */
  readonly url: string;
  readonly internal_url: string;
  /** The file in which it writes its resources. */
  readonly upkeep_file: string;
  /** The addresses that others call. */
  readonly links: { readonly public: NetworkProxy; readonly internal: NetworkProxy };
}

/** Starts one of the four services from a folder of the source, with ports that stay the same over a restart. */
export async function startReplica(
  app: string,
  number: number,
  leash: Leash,
  variables: Record<string, string>,
  first_root: string,
): Promise<Replica> {
  let root = first_root;
  const [port, internal_port] = [freePort(), freePort()];
  const url = `http://127.0.0.1:${port}`;
  const internal_url = `http://127.0.0.1:${internal_port}`;
  const directory = await mkdtemp(join(tmpdir(), `ostiary-${app}-`));
  const upkeep_file = join(directory, "upkeep");
  const { PATH = "", HOME = "" } = process.env;
  const server = new BinaryTestServer(
    {
      url,
      directory,
      get command() {
        const preload = join(import.meta.dir, "../../support/upkeep-process.ts");
        return [process.execPath, "--preload", preload, join(root, `apps/${app}/main.ts`)];
      },
      env: {
        PATH,
        HOME,
        HOST: "127.0.0.1",
        PORT: String(port),
        INTERNAL_PORT: String(internal_port),
        LOG_LEVEL: "warn",
        // Otherwise the gateway would restart itself to set it
        BUN_CONFIG_MAX_HTTP_REQUESTS: "65000",
        UPKEEP_FILE: upkeep_file,
        ...variables,
      },
      ready: async () => (await answerOf(`${internal_url}/health/live`)) === 200,
      crash: "SIGKILL",
      shutdown: "SIGTERM",
    },
    leash,
  );
  await server.start();
  const links = { public: await startProxy(url), internal: await startProxy(internal_url) };
  const replaceBy = async (next: string) => {
    const signalled_ms = performance.now();
    await server.stop();
    const ended_ms = performance.now();
    root = next;
    await server.start();
    return { signalled_ms, ended_ms };
  };
  return { name: `${app} ${number + 1}`, app, server, replaceBy, url, internal_url, upkeep_file, links };
}

/** Returns the status of a GET; 0 without an answer within a second. */
export async function answerOf(url: string, timeout_ms = READY_TIMEOUT_MS): Promise<number> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(timeout_ms) })).status;
  } catch {
    return 0;
  }
}
