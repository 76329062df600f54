import { createConnection, createServer, type Socket } from "node:net";
import { listenLocally } from "../http/listen-locally.ts";
import { type CheckTimes, Readiness } from "../stores/readiness.ts";

/** A replica of a service behind a balancer. */
export interface Replica {
  /** The URL of the public port. */
  readonly url: string;
  /** The URL of the internal port, whose `/health/ready` the balancer checks. */
  readonly internalUrl: string;
}

/** A layer-4 balancer like those of cloud providers: it forwards TCP connections and does not parse HTTP. */
export interface Balancer {
  /** The URL that leads to the replicas' public ports. */
  readonly url: string;
  /** The URL that leads to the replicas' internal ports. */
  readonly internalUrl: string;
  /** Adds a replica, which gets new connections once it is ready. */
  add(replica: Replica): void;
  /** Removes a replica that has stopped, as an operator would. */
  remove(replica: Replica): void;
  /** The replicas that get new connections now. */
  readonly ready: readonly Replica[];
  close(): Promise<void>;
}

const TIMES: CheckTimes = { intervalMs: 200, timeoutMs: 1_000, oldMs: 1_200 };

/**
 * Starts a balancer that checks the readiness of each replica every 200 ms. An open connection stays at its
 * replica, even when the replica is no longer ready.
 */
export async function startBalancer(): Promise<Balancer> {
  const readiness = new Readiness<Replica>(({ internalUrl }) => `${internalUrl}/health/ready`, TIMES);
  const [open, internal] = await Promise.all([
    listen(async () => (await readiness.readyNow()).map(({ url }) => url)),
    listen(async () => (await readiness.readyNow()).map(({ internalUrl }) => internalUrl)),
  ]);
  return {
    url: open.url,
    internalUrl: internal.url,
    get ready() {
      return readiness.ready;
    },
    add: (replica) => readiness.add(replica, false),
    remove: (replica) => readiness.remove(replica),
    async close() {
      readiness.stop();
      await Promise.all([open.close(), internal.close()]);
    },
  };
}

/**
 * Listens at a port of its own, and forwards each new connection to the next of the URLs that `ready` resolves
 * with.
 */
async function listen(
  ready: () => Promise<string[]>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  };
  const server = createServer(async (client) => {
    keep(client);
    const urls = await ready();
    if (client.destroyed) return;
    const chosen = urls[turn++ % Math.max(1, urls.length)];
    if (chosen === undefined) {
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(chosen);
    const replica = createConnection({ host: hostname, port: Number(port) });
    keep(replica);
    client.on("close", () => replica.destroy());
    replica.on("close", () => client.destroy());
    client.pipe(replica).pipe(client);
  });
  const port = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      return closed.promise;
    },
  };
}
