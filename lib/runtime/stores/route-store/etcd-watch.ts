import { Loop } from "@ostiary/lib/async";
import { type Etcd3, type IEvent, Range, type WatchClient } from "etcd3";
import { readNothing } from "./etcd-endpoint.ts";
import type { RouteChange, RouteListener } from "./route-store.ts";

/** One node of etcd that has just answered a linearizable read. */
export type FindNode = () => Promise<Etcd3>;

/** Pause before the watch is set up anew. */
const RESTART_MS = 200;
/** How often the node is asked whether it still is there. */
const ASK_MS = 400;
/** How many of these may be open: so a node that falls silent is left after 1.2 to 1.6 s. */
const UNANSWERED_MAX = 3;
const ASK_TIMEOUT_MS = ASK_MS * UNANSWERED_MAX;

/**
 * Watches a prefix, on any node. Each time it is set up, after the first, its listener reads everything: so no
 * revision needs to be resumed from, and a compaction costs nothing.
 */
export class EtcdWatch {
  /** Resolves when the watch is first in place. */
  readonly established: Promise<void>;
  readonly #prefix: string;
  readonly #findNode: FindNode;
  readonly #listener: RouteListener;
  readonly #loop: Loop;
  #onCreated: () => void;
  #leave: () => void = () => {};

  constructor(findNode: FindNode, prefix: string, listener: RouteListener) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.established = promise;
    this.#findNode = findNode;
    this.#prefix = prefix;
    this.#listener = listener;
    this.#onCreated = () => {
      this.#onCreated = () => listener.interrupted();
      resolve();
    };
    this.#loop = new Loop({
      // that no node answers, or that this one did not take the watch, is no reason to wait longer each time
      task: (stopping) => this.#watch(stopping).catch(() => {}),
      pause_ms: RESTART_MS,
      retry_ms: RESTART_MS,
      onFailure: () => {},
    });
    this.#loop.start();
  }

  close(): void {
    void this.#loop.stop();
    this.#leave();
  }

  /** Watches on one node until the stream ends or the node can no longer be trusted to tell of changes. */
  async #watch(stopping: () => boolean): Promise<void> {
    const node = await this.#findNode();
    if (stopping()) return;
    const stream = await node.watchClient.watch();
    const { promise: left, resolve } = Promise.withResolvers<void>();
    let hasLeft = false;
    const leave = () => {
      hasLeft = true;
      resolve();
    };
    this.#leave = leave;
    const health = watchHealth(node, stream, leave);
    stream.on("error", leave);
    stream.on("end", leave);
    stream.on("data", (message) => {
      if (hasLeft) return;
      health.heard();
      if (message.canceled) leave();
      else if (message.created) this.#onCreated();
      else if (message.events.length > 0) this.#listener.changed(message.events.map(changeOf));
    });
    const { start, end } = Range.prefix(this.#prefix);
    stream.write({ create_request: { key: Buffer.from(start), range_end: Buffer.from(end) } });
    if (stopping()) leave();
    await left;
    health.stop();
    stream.cancel();
  }
}

function changeOf({ type, kv }: IEvent): RouteChange {
  const value = type === "Delete" ? null : kv.value.toString();
  return { key: kv.key.toString(), value, revision: Number(kv.mod_revision) };
}

type WatchStream = Awaited<ReturnType<WatchClient["watch"]>>;

/**
 * Asks a node again and again for a sign of life on the stream, since a connection can fall silent, and for a
 * linearizable read, since a node that is cut off from the others goes on serving streams without changes. It
 * counts questions and not time: a process that was too busy to read the answers does not take them for missing.
 */
function watchHealth(node: Etcd3, stream: WatchStream, onLost: () => void) {
  let unheard = 0;
  let unserved = 0;
  let isReading = false;
  const read = async () => {
    if (isReading) return;
    isReading = true;
    try {
      await readNothing(node, Date.now() + ASK_TIMEOUT_MS);
      unserved = 0;
    } catch {
      // it counts as unanswered
    } finally {
      isReading = false;
    }
  };
  const asking = setInterval(() => {
    if (Math.max(unheard, unserved) >= UNANSWERED_MAX) return onLost();
    unheard += 1;
    unserved += 1;
    stream.write({ progress_request: {} });
    void read();
  }, ASK_MS);
  return {
    heard() {
      unheard = 0;
    },
    stop: () => clearInterval(asking),
  };
}
