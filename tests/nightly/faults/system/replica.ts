import { join } from "node:path";
import { freePort } from "../../../support/http/free-port.ts";
import { type Proxy as NetworkProxy, startProxy } from "../../../support/http/proxy.ts";
import { BinaryTestServer } from "../../../support/stores/binary-server.ts";
import { lastingFolder } from "../../../support/temporary-folder.ts";

const READY_TIMEOUT_MS = 1_000;
const STARTS_MAX = 5;

/** One process of a service, with the network links to it. */
export interface Replica {
  readonly name: string;
  readonly server: BinaryTestServer;
  readonly app: string;
  /** Stops the process gracefully, and starts it from another source folder. */
  replaceBy(root: string): Promise<void>;
  /** The URL of the process's public port. It bypasses `links`, so faults of links do not affect it. */
  readonly url: string;
  readonly internalUrl: string;
  /** The file to which the process writes its resources on SIGWINCH. */
  readonly upkeepFile: string;
  /** The network links that all other processes connect to. */
  readonly links: { readonly public: NetworkProxy; readonly internal: NetworkProxy };
}

/** Starts one of the four services from a source folder. Its ports stay the same when it restarts. */
export async function startReplica(
  app: string,
  number: number,
  variables: Record<string, string>,
  firstRoot: string,
): Promise<Replica> {
  let root = firstRoot;
  const [port, internal_port] = [freePort(), freePort()];
  const url = `http://127.0.0.1:${port}`;
  const internalUrl = `http://127.0.0.1:${internal_port}`;
  const directory = lastingFolder(`${app}`);
  const upkeepFile = join(directory, "upkeep");
  const { PATH = "", HOME = "" } = process.env;
  const server = new BinaryTestServer({
    url,
    directory,
    get command() {
      const preload = join(import.meta.dir, "../../../support/processes/upkeep-process.ts");
      return [process.execPath, "--preload", preload, join(root, `apps/${app}/main.ts`)];
    },
    env: {
      PATH,
      HOME,
      HOST: "127.0.0.1",
      PORT: String(port),
      INTERNAL_PORT: String(internal_port),
      LOG_LEVEL: "warn",
      // Without this variable, the gateway sets it and restarts itself.
      BUN_CONFIG_MAX_HTTP_REQUESTS: "65000",
      UPKEEP_FILE: upkeepFile,
      ...variables,
    },
    ready: async () => (await statusOf(`${internalUrl}/health/live`)) === 200,
    crash: "SIGKILL",
    shutdown: "SIGTERM",
    startsMax: STARTS_MAX,
  });
  await server.start();
  const links = { public: await startProxy(url), internal: await startProxy(internalUrl) };
  const replaceBy = async (next: string) => {
    await server.stop();
    root = next;
    await server.start();
  };
  return { name: `${app} ${number + 1}`, app, server, replaceBy, url, internalUrl, upkeepFile, links };
}

/** Returns the status of a GET, or 0 if no response comes before the timeout. */
export async function statusOf(url: string, timeoutMs = READY_TIMEOUT_MS): Promise<number> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })).status;
  } catch {
    return 0;
  }
}
