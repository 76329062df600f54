/**
 * The worker with the receiver of a stream. It is a thread of its own, so that receiving does not delay the
 * writes that the bench measures.
 */

import { parentPort } from "node:worker_threads";

export interface ReceiverPort {
  kind: "listening";
  port: number;
}

export interface ReceivedBatch {
  kind: "batch";
  /** The position of the first entry; `last` is the position of the last one. */
  first: number;
  last: number;
  events: number;
}

const INTENT = '"kind":"intent"';

const port = parentPort;
if (port === null) throw new Error("Start this module as a worker.");

async function batchOf(request: Request): Promise<ReceivedBatch> {
  const [first, last] = (request.headers.get("webhook-id") ?? "").split("-").slice(-2).map(Number);
  const events = (await request.text()).split(INTENT).length - 1;
  return { kind: "batch", first: first ?? 0, last: last ?? 0, events };
}

const receiver = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    port.postMessage(await batchOf(request));
    return new Response(null);
  },
});
const listening: ReceiverPort = { kind: "listening", port: receiver.port ?? 0 };
port.postMessage(listening);
