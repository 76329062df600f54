import { createConnection, createServer, type Socket } from "node:net";

/** Stands between a client and a server, to part the two while the server goes on. */
export interface Proxy {
  /** The target's URL with the proxy's address. */
  readonly url: string;
  /** Ends all connections and takes no new ones. */
  cut(): void;
  heal(): void;
  /** Leaves the connections there are open, and passes nothing on over them again; new ones work. */
  stall(): void;
  /** As `stall`, and the server's ends of them are closed, as after a failover. */
  forget(): void;
  close(): Promise<void>;
}

/** `alter` may change what the server says, in place. */
export async function startProxy(target: string, alter: (said: Buffer) => void = () => {}): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const pairs = new Set<[client: Socket, upstream: Socket]>();
  let healthy = true;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (!healthy) {
      client.destroy();
      return;
    }
    const upstream = createConnection({ host: hostname, port: Number(port) });
    keep(upstream);
    const pair: [Socket, Socket] = [client, upstream];
    pairs.add(pair);
    client.on("close", () => {
      pairs.delete(pair);
      upstream.destroy();
    });
    upstream.on("close", () => client.destroy());
    upstream.on("data", alter);
    client.pipe(upstream).pipe(client);
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port was bound.");
  const url = new URL(target);
  url.port = String(address.port);
  const cut = () => {
    healthy = false;
    for (const socket of sockets) socket.destroy();
  };
  const stall = () => {
    for (const [client, upstream] of pairs) {
      client.unpipe(upstream).resume();
      upstream.unpipe(client).resume();
    }
  };
  return {
    url: url.href.replace(/\/$/, ""),
    cut,
    heal() {
      healthy = true;
    },
    stall,
    forget() {
      stall();
      for (const [, upstream] of pairs) upstream.removeAllListeners("close").destroy();
    },
    close() {
      cut();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      return closed.promise;
    },
  };
}
