import { createServer, type Server, type Socket } from "node:net";
import { systemClock } from "@ostiary/lib/async";
import { type CallResult, Receiver, type ReceiverDeps } from "../../../apps/audit/receivers/receiver-call.ts";
import { targetRulesOf } from "../../../apps/audit/receivers/targets.ts";
import { atTestEnd } from "../../support/at-test-end.ts";
import { listenLocally } from "../../support/http/listen-locally.ts";

export const BODY = Buffer.from('{"a":1}');

/** Starts a TCP server that calls `onData` for the data of each connection. The server stops at the end of the test. */
export async function rawServer(onData: (socket: Socket, text: string) => void) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => onData(socket, data.toString()));
  });
  const port = await listenLocally(server);
  atTestEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    sockets,
    receiver: (changes?: Partial<ReceiverDeps>) => receiver(`http://127.0.0.1:${port}/`, [port], changes),
  };
}

/**
 * Writes a text again and again, up to 100 MB, until the client closes the connection. Returns a count of the bytes.
 */
export function pour(socket: Socket, text: string): () => number {
  let bytes = 0;
  const write = () => {
    while (!socket.destroyed && bytes < 100_000_000) {
      bytes += text.length;
      if (!socket.write(text)) return void socket.once("drain", write);
    }
  };
  write();
  return () => bytes;
}

/** Returns a client that calls the receiver at a URL until the end of the test. */
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
  const call = new Receiver(url, { rules, clock: systemClock, ...deps });
  atTestEnd(() => call.close());
  return call;
}

/** Returns the error message of a refused call, or else its outcome. */
export const errorOf = (result: CallResult) => (result.outcome === "refused" ? result.error : result.outcome);
