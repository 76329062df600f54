import { createServer, type Server, type Socket } from "node:net";
import { type CallResult, Receiver, type ReceiverDeps } from "@ostiary/audit/receivers/receiver-call";
import { targetRulesOf } from "@ostiary/audit/receivers/targets";
import { systemClock } from "@ostiary/lib/async";
import { listenLocally } from "../../support/http/listen-locally.ts";

export const BODY = Buffer.from('{"a":1}');

/** Starts a TCP server that calls `onData` for the data of each connection. */
export async function rawServer(onData: (socket: Socket, text: string) => void) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => onData(socket, data.toString()));
  });
  return {
    port: await listenLocally(server),
    sockets,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Returns a client that calls the receiver at a URL. */
export function receiver(
  url: string,
  ports: number[],
  changes: Partial<ReceiverDeps> & { networks?: string[] } = {},
) {
  const { networks = ["127.0.0.1/32"], ...deps } = changes;
  const rules = targetRulesOf({
    AUDIT_STREAM_ALLOW_HTTP: true,
    AUDIT_STREAM_ALLOWED_PORTS: ports.join(","),
    AUDIT_STREAM_ALLOWED_NETWORKS: networks.join(","),
  });
  return new Receiver(url, { rules, clock: systemClock, ...deps });
}

/** Returns the error message of a refused call, or else its outcome. */
export const errorOf = (result: CallResult) => (result.outcome === "refused" ? result.error : result.outcome);
