import { createConnection, createServer, type Socket } from "node:net";
import { listenLocally } from "./listen-locally.ts";
import { type Conditions, passOn } from "./passage.ts";

/** A TCP proxy between clients and a server, which can separate them while the server runs. */
export interface Proxy {
  /** The server's URL with the port of the proxy. */
  readonly url: string;
  /** Returns the number of connections from clients so far. */
  made(): number;
  /** Closes all connections, and each new connection at once, until `heal`. */
  cut(): void;
  /** Makes the present connections silent for good: no bytes pass, but a close does. New connections work. */
  stall(): void;
  /**
   * Closes the present connections to the server, as after a failover. The connections to the clients stay
   * open and silent for good. New connections work.
   */
  forget(): void;
  /**
   * Passes nothing on until `heal`. Present connections stay open, and new connections are accepted. `heal`
   * closes the connections to the server. The connections from clients stay open and silent for good.
   */
  swallow(): void;
  slow(latencyMs: number): void;
  /** Ends the delay and makes new connections work again. */
  heal(): void;
  close(): Promise<void>;
}

/** The connection to the server that belongs to one connection of a client. */
interface Pair {
  readonly upstream: Socket;
  passes: Conditions["passes"];
}

/**
 * Starts a proxy. `target` is the URL of the server, or a function that returns it for each connection.
 * `alter` is called with the bytes that the server sends and may change them in place.
 */
export async function startProxy(
  target: string | (() => string),
  alter: (said: Buffer) => void = () => {},
): Promise<Proxy> {
  const targetNow = typeof target === "string" ? () => target : target;
  const connections = new Connections(targetNow, alter);
  const server = createServer((client) => connections.accept(client));
  const url = new URL(targetNow());
  url.port = String(await listenLocally(server));
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
    slow: (latencyMs) => {
      connections.latencyMs = latencyMs;
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
  latencyMs = 0;
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
    this.latencyMs = 0;
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
      // A pair that passes nothing stays listed, so that `endLost` can close its connection to the server.
      if (pair.passes !== "nothing") this.#pairs.delete(pair);
    });
    const conditions = () => ({ passes: pair.passes, latencyMs: this.latencyMs });
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
