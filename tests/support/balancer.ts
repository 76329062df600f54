import { createConnection, createServer, type Socket } from "node:net";

/** A replica that a balancer sends connections to. */
export interface Replica {
  /** The URL that connections go to. */
  readonly url: string;
  /** The URL of the internal port, whose `/health/ready` the balancer checks. */
  readonly internal_url: string;
}

/** A TCP balancer like those of clouds: it passes bytes, and knows no requests. */
export interface Balancer {
  readonly url: string;
  /** Adds a replica. New connections go to it once it is ready. */
  add(replica: Replica): void;
  /** Removes a replica that has ended, as an operator would. */
  remove(replica: Replica): void;
  /** Replicas that get new connections now. */
  readonly ready: readonly Replica[];
  close(): Promise<void>;
}

const ASK_MS = 200;
/** The number of checks that a replica may leave unanswered on a busy machine before it counts as gone. */
const UNANSWERED_MAX = 3;
const ANSWER_MS = 1_000;

interface Member {
  readonly replica: Replica;
  ready: boolean;
  unanswered: number;
  isAsking: boolean;
}

/**
 * Starts a balancer that checks the readiness of each replica every 200 ms. Open connections stay where they
 * are.
 */
export async function startBalancer(): Promise<Balancer> {
  const members: Member[] = [];
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
    const ready = members.filter((member) => member.ready);
    const chosen = ready[turn++ % Math.max(1, ready.length)];
    if (chosen === undefined) {
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(chosen.replica.url);
    const replica = createConnection({ host: hostname, port: Number(port) });
    keep(replica);
    client.on("close", () => replica.destroy());
    replica.on("close", () => client.destroy());
    client.pipe(replica).pipe(client);
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port was bound.");
  const asking = setInterval(() => void Promise.all(members.map(ask)), ASK_MS);
  return {
    url: `http://127.0.0.1:${address.port}`,
    get ready() {
      return members.filter((member) => member.ready).map(({ replica }) => replica);
    },
    add(replica) {
      members.push({ replica, ready: false, unanswered: 0, isAsking: false });
    },
    remove(replica) {
      const index = members.findIndex((member) => member.replica === replica);
      if (index >= 0) members.splice(index, 1);
    },
    close() {
      clearInterval(asking);
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
  const url = `${member.replica.internal_url}/health/ready`;
  const answer = await fetch(url, { keepalive: false, signal: AbortSignal.timeout(ANSWER_MS) }).catch(
    (error: unknown) => (error instanceof Error && error.name === "TimeoutError" ? "silent" : "gone"),
  );
  member.unanswered = answer === "silent" ? member.unanswered + 1 : 0;
  if (answer === "gone" || member.unanswered > UNANSWERED_MAX) member.ready = false;
  else if (answer !== "silent") member.ready = answer.ok;
  member.isAsking = false;
}
