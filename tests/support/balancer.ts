import { createConnection, createServer, type Socket } from "node:net";
import { listenLocally } from "./listen-locally.ts";

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

const ASK_MS = 200;
/**
 * The number of consecutive checks that may time out on a busy machine before a replica counts as not ready.
 */
const UNANSWERED_MAX = 3;
const ANSWER_MS = 1_000;

interface Member {
  readonly replica: Replica;
  ready: boolean;
  unanswered: number;
  isAsking: boolean;
}

/**
 * Starts a balancer that checks the readiness of each replica every 200 ms. An open connection stays at its
 * replica, even when the replica is no longer ready.
 */
export async function startBalancer(): Promise<Balancer> {
  const members: Member[] = [];
  const ready = () => members.filter((member) => member.ready).map(({ replica }) => replica);
  const [open, internal] = await Promise.all([
    listen(() => ready().map(({ url }) => url)),
    listen(() => ready().map(({ internalUrl }) => internalUrl)),
  ]);
  const asking = setInterval(() => void Promise.all(members.map(ask)), ASK_MS);
  return {
    url: open.url,
    internalUrl: internal.url,
    get ready() {
      return ready();
    },
    add(replica) {
      members.push({ replica, ready: false, unanswered: 0, isAsking: false });
    },
    remove(replica) {
      const index = members.findIndex((member) => member.replica === replica);
      if (index >= 0) members.splice(index, 1);
    },
    async close() {
      clearInterval(asking);
      await Promise.all([open.close(), internal.close()]);
    },
  };
}

/** Listens at a port of its own, and forwards each new connection to the next of the URLs that `ready` returns. */
async function listen(ready: () => string[]): Promise<{ readonly url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    const urls = ready();
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

async function ask(member: Member): Promise<void> {
  if (member.isAsking) return;
  member.isAsking = true;
  const url = `${member.replica.internalUrl}/health/ready`;
  const answer = await fetch(url, { keepalive: false, signal: AbortSignal.timeout(ANSWER_MS) }).catch(
    (error: unknown) => (error instanceof Error && error.name === "TimeoutError" ? "silent" : "gone"),
  );
  member.unanswered = answer === "silent" ? member.unanswered + 1 : 0;
  if (answer === "gone" || member.unanswered > UNANSWERED_MAX) member.ready = false;
  else if (answer !== "silent") member.ready = answer.ok;
  member.isAsking = false;
}
