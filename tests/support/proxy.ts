import { createConnection, createServer, type Socket } from "node:net";
import { type Conditions, passOn } from "./passage.ts";

/** Stands between clients and a server, to part the two while the server goes on. */
export interface Proxy {
  /** The target's URL with the proxy's address. */
  readonly url: string;
  /** Ends all connections and takes no new ones. */
  cut(): void;
  /** Leaves the connections there open, and passes nothing on over them again; new ones work. */
  stall(): void;
  /** As `stall`, and the server's ends of them are closed, as after a failover. */
  forget(): void;
  /**
   * Passes nothing on over any connection, new ones included, that all seem open. They stay silent when this is
   * over, and then the server's ends of them are closed.
   */
  swallow(): void;
  /** Passes everything on so much later, both ways. */
  slow(latency_ms: number): void;
  /** New connections work from now on, and nothing is late. */
  heal(): void;
  close(): Promise<void>;
}

/** The connection to the server that was made for a client's. */
interface Pair {
  readonly upstream: Socket;
  passes: Conditions["passes"];
}

/** `target` is a URL, or gives one for each connection. `alter` may change what the server says, in place. */
export async function startProxy(
  target: string | (() => string),
  alter: (said: Buffer) => void = () => {},
): Promise<Proxy> {
  const targetNow = typeof target === "string" ? () => target : target;
  const connections = new Connections(targetNow, alter);
  const server = createServer((client) => connections.accept(client));
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port was bound.");
  const url = new URL(targetNow());
  url.port = String(address.port);
  return {
    url: url.href.replace(/\/$/, ""),
    cut: () => connections.cut(),
    stall: () => connections.lose("closing"),
    forget: () => {
      connections.lose("nothing");
      connections.endLost();
    },
    swallow: () => connections.swallow(),
    slow: (latency_ms) => {
      connections.latency_ms = latency_ms;
    },
    heal: () => connections.heal(),
    close() {
      connections.cut();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      return closed.promise;
    },
  };
}

class Connections {
  latency_ms = 0;
  #takes: "all" | "none" | "silently" = "all";
  readonly #sockets = new Set<Socket>();
  readonly #pairs = new Set<Pair>();
  readonly #target: () => string;
  readonly #alter: (said: Buffer) => void;

  constructor(target: () => string, alter: (said: Buffer) => void) {
    this.#target = target;
    this.#alter = alter;
  }

  accept(client: Socket): void {
    this.#keep(client);
    if (this.#takes === "none") client.destroy();
    else if (this.#takes === "silently") client.resume();
    else this.#join(client);
  }

  cut(): void {
    this.#takes = "none";
    for (const socket of this.#sockets) socket.destroy();
  }

  lose(passes: Conditions["passes"]): void {
    for (const pair of this.#pairs) pair.passes = passes;
  }

  endLost(): void {
    for (const pair of this.#pairs) {
      if (pair.passes !== "nothing") continue;
      this.#pairs.delete(pair);
      pair.upstream.destroy();
    }
  }

  swallow(): void {
    this.#takes = "silently";
    this.lose("nothing");
  }

  heal(): void {
    this.latency_ms = 0;
    if (this.#takes === "silently") this.endLost();
    this.#takes = "all";
  }

  #join(client: Socket): void {
    const { hostname, port } = new URL(this.#target());
    const upstream = createConnection({ host: hostname, port: Number(port) });
    this.#keep(upstream);
    const pair: Pair = { upstream, passes: "everything" };
    this.#pairs.add(pair);
    client.on("close", () => {
      // the server has yet to learn that a lost connection is one
      if (pair.passes !== "nothing") this.#pairs.delete(pair);
    });
    const conditions = () => ({ passes: pair.passes, latency_ms: this.latency_ms });
    upstream.on("data", this.#alter);
    passOn(client, upstream, conditions);
    passOn(upstream, client, conditions);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }
}
