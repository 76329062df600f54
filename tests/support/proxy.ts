import { createConnection, createServer, type Socket } from "node:net";
import { type Conditions, passOn } from "./passage.ts";

/** A proxy between clients and a server, to separate the two while the server runs. */
export interface Proxy {
  /** The target's URL with the proxy's address. */
  readonly url: string;
  /** Returns the number of connections that clients have made so far. */
  made(): number;
  /** Ends all connections and accepts no new ones. */
  cut(): void;
  /** Keeps the present connections open, but passes nothing over them again. New ones work. */
  stall(): void;
  /** Does the same as `stall`, and closes the server's ends of the connections, as after a failover. */
  forget(): void;
  /**
   * Passes nothing over any connection, new ones included; all seem open. When this is over, they stay
   * silent, and the server's ends of them are closed.
   */
  swallow(): void;
  /** Passes everything on with this delay, both ways. */
  slow(latency_ms: number): void;
  /** Lets new connections work again, without delay. */
  heal(): void;
  close(): Promise<void>;
}

/** A client's connection with the connection to the server that was made for it. */
interface Pair {
  readonly upstream: Socket;
  passes: Conditions["passes"];
}

/**
 * Starts a proxy. `target` is a URL, or returns one for each connection. `alter` may change the server's
 * bytes in place.
 */
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
    made: () => connections.made,
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
  made = 0;
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
    this.made += 1;
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
      // The server has yet to learn that a lost connection is lost.
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
