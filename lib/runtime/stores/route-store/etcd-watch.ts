import { type Etcd3, type IEvent, Range, type WatchClient } from "etcd3";
import { Loop, systemClock } from "../../../async/index.ts";
import { LATE_MS, lateDeadline, readNothing } from "./etcd-endpoint.ts";
import type { RouteChange, RouteListener } from "./route-store.ts";

/** Returns a client of a node that has just answered a linearizable read. */
type FindNode = () => Promise<Etcd3>;

/** The pause before the watch is restarted. */
const RESTART_MS = 200;
/**
 * The interval between two checks of the node. Each check sends a progress request and a linearizable read.
 */
const ASK_MS = 400;
/** The maximum number of unanswered checks. The watch leaves a silent node after 1.2 to 1.6 s. */
const UNANSWERED_MAX = 3;
/** The id of the watch, which is the only watch on its stream. */
const WATCH_ID = 1;
const ASK_TIMEOUT_MS = ASK_MS * UNANSWERED_MAX;

/**
 * Watches a prefix on any node of etcd. After each restart of the watch, the listener must read everything
 * again. Therefore the watch does not resume from a revision, and a compaction cannot break it.
 */
export class EtcdWatch {
  /** Resolves when etcd has created the first watch. */
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
      // The pause stays the same after failures: there is no backoff.
      task: (stopping) => this.#watch(stopping).catch(() => {}),
      pauseMs: RESTART_MS,
      retryMs: RESTART_MS,
      onFailure: () => {},
    });
    this.#loop.start();
  }

  close(): void {
    void this.#loop.stop();
    this.#leave();
  }

  /** Watches on one node until the stream ends or the node fails its checks. */
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
    let hasEnded = false;
    const onEnd = () => {
      hasEnded = true;
      leave();
    };
    stream.on("error", onEnd);
    stream.on("end", onEnd);
    stream.on("data", (message) => {
      if (hasLeft) return;
      health.heard();
      if (message.canceled) onEnd();
      else if (message.created) this.#onCreated();
      else if (message.events.length > 0) this.#listener.changed(message.events.map(changeOf));
    });
    const { start, end } = Range.prefix(this.#prefix);
    stream.write({
      create_request: { watch_id: WATCH_ID, key: Buffer.from(start), range_end: Buffer.from(end) },
    });
    if (stopping()) leave();
    await left;
    health.stop();
    if (hasEnded) stream.cancel();
    else endWatch(stream);
  }
}

/**
 * Asks the node to end the watch. Cancels the stream after the watch has ended, or after a long silence. The
 * stream is not canceled earlier: if a message arrived on a canceled stream, the runtime would never close
 * that connection.
 */
function endWatch(stream: WatchStream): void {
  const cancel = () => {
    stopWaiting();
    stream.cancel();
  };
  const stopWaiting = systemClock.after(LATE_MS, cancel);
  stream.on("error", cancel);
  stream.on("end", cancel);
  stream.on("data", ({ canceled }) => {
    if (canceled) cancel();
  });
  stream.write({ cancel_request: { watch_id: WATCH_ID } });
}

function changeOf({ type, kv }: IEvent): RouteChange {
  const value = type === "Delete" ? null : kv.value.toString();
  return { key: kv.key.toString(), value, revision: Number(kv.mod_revision) };
}

type WatchStream = Awaited<ReturnType<WatchClient["watch"]>>;

/**
 * Checks a node regularly, and calls `onLost` after too many unanswered checks. A progress request on the
 * stream detects a silent connection. A linearizable read detects an isolated node, which keeps streams open
 * without changes. Counting checks instead of time prevents a false alarm in a busy process, which has not
 * read the responses yet.
 */
function watchHealth(node: Etcd3, stream: WatchStream, onLost: () => void) {
  let unheard = 0;
  let unserved = 0;
  let isReading = false;
  const read = async () => {
    if (isReading) return;
    isReading = true;
    try {
      await readNothing(node, lateDeadline(ASK_TIMEOUT_MS));
      unserved = 0;
    } catch {
      // A failed read counts as an unanswered check.
    } finally {
      isReading = false;
    }
  };
  const ask = () => {
    if (Math.max(unheard, unserved) >= UNANSWERED_MAX) return onLost();
    cancelAsking = systemClock.after(ASK_MS, ask);
    unheard += 1;
    unserved += 1;
    stream.write({ progress_request: {} });
    void read();
  };
  let cancelAsking = systemClock.after(ASK_MS, ask);
  return {
    heard() {
      unheard = 0;
    },
    stop: () => cancelAsking(),
  };
}
