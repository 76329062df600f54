import { parentPort } from "node:worker_threads";

/** The receivers of streams, in a thread of their own: what they read delays no client that is timed. */

/** The ports of the receivers: of the one that answers, and of the one that never does. */
export interface ReceiverPorts {
  kind: "listening";
  fast: number;
  silent: number;
}

/** A delivery request that a receiver got. */
export interface ReceivedBatch {
  kind: "batch";
  receiver: "fast" | "silent";
  /** The first position and the last one. */
  first: number;
  last: number;
  events: number;
}

const INTENT = '"kind":"intent"';

const port = parentPort;
if (port === null) throw new Error("The receivers of streams run in a thread of their own.");

async function batchOf(request: Request, receiver: ReceivedBatch["receiver"]): Promise<ReceivedBatch> {
  const [first, last] = (request.headers.get("webhook-id") ?? "").split("-").slice(-2).map(Number);
  const events = (await request.text()).split(INTENT).length - 1;
  return { kind: "batch", receiver, first: first ?? 0, last: last ?? 0, events };
}

const fast = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    port.postMessage(await batchOf(request, "fast"));
    return new Response(null);
  },
});
const silent = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    port.postMessage(await batchOf(request, "silent"));
    return new Promise<Response>(() => {});
  },
});
const listening: ReceiverPorts = { kind: "listening", fast: fast.port ?? 0, silent: silent.port ?? 0 };
port.postMessage(listening);
