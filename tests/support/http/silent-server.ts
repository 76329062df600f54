import { createServer, type Socket } from "node:net";
import { listenLocally } from "./listen-locally.ts";

/** A server that accepts connections and never responds, like a suspended server. */
interface SilentServer {
  readonly url: string;
  connections(): number;
  close(): Promise<void>;
}

export async function startSilentServer(): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    socket.resume();
  });
  const port = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}`,
    connections: () => sockets.size,
    close() {
      for (const socket of sockets) socket.destroy();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      return closed.promise;
    },
  };
}
