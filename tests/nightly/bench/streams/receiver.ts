/**
 * The worker with the receivers of streams. It is a thread of its own, so that receiving does not delay the
 * writes that the bench measures.
 */

import { parentPort } from "node:worker_threads";

/** The ports of the two receivers: `fast` responds at once, and `silent` never responds. */
export interface ReceiverPorts {
  kind: "listening";
  fast: number;
  silent: number;
}

/** A delivery that a receiver got. */
export interface ReceivedBatch {
  kind: "batch";
  receiver: "fast" | "silent";
  /** The position of the first entry; `last` is the position of the last one. */
  first: number;
  last: number;
  events: number;
}

const INTENT = '"kind":"intent"';

const port = parentPort;
if (port === null) throw new Error("Start this module as a worker.");

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
