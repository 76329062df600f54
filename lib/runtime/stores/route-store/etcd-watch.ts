import { type Etcd3, Range, type WatchClient } from "etcd3";
import { coalesce } from "./coalesce.ts";
import { readNothing } from "./etcd-endpoint.ts";

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
 * Watches a prefix, on any node. Each time it is set up, after the first, counts as a change, since the listener
 * reads everything anyway: so no revision needs to be resumed from, and a compaction costs nothing.
 */
export class EtcdWatch {
  /** Resolves when the watch is first in place. */
  readonly established: Promise<void>;
  readonly #prefix: string;
  readonly #findNode: FindNode;
  readonly #notify: () => void;
  #connected: () => void;
  #leave: () => void = () => {};
  #closed = false;

  constructor(findNode: FindNode, prefix: string, onChange: () => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.established = promise;
    this.#connected = resolve;
    this.#findNode = findNode;
    this.#prefix = prefix;
    this.#notify = coalesce(onChange, () => !this.#closed);
    void this.#run();
  }

  close(): void {
    this.#closed = true;
    this.#leave();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      try {
        const node = await this.#findNode();
        if (!this.#closed) await this.#watchOn(node);
      } catch {
        // no node answers, or this one did not take the watch
      }
      await this.#pause(RESTART_MS);
    }
  }

  /** Watches on one node until the stream ends or the node can no longer be trusted to tell of changes. */
  async #watchOn(node: Etcd3): Promise<void> {
    const stream = await node.watchClient.watch();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    this.#leave = leave;
    const health = new Health(node, stream, leave);
    stream.on("error", () => leave());
    stream.on("end", () => leave());
    stream.on("data", (message) => {
      health.heard();
      if (message.canceled) leave();
      else if (message.created) this.#onCreated();
      else if (message.events.length > 0) this.#notify();
    });
    const { start, end } = Range.prefix(this.#prefix);
    stream.write({ create_request: { key: Buffer.from(start), range_end: Buffer.from(end) } });
    if (this.#closed) leave();
    await left;
    health.stop();
    stream.cancel();
  }

  #onCreated(): void {
    this.#connected();
    this.#connected = this.#notify;
  }

  async #pause(pause_ms: number): Promise<void> {
    if (this.#closed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, pause_ms);
    this.#leave = resolve;
    await promise;
    clearTimeout(timer);
  }
}

type WatchStream = Awaited<ReturnType<WatchClient["watch"]>>;

/**
 * Asks a node again and again for a sign of life on the stream, since a connection can fall silent, and for a
 * linearizable read, since a node that is cut off from the others goes on serving streams without changes. It
 * counts questions and not time: a process that was too busy to read the answers does not take them for missing.
 */
class Health {
  readonly #timer: ReturnType<typeof setInterval>;
  #unheard = 0;
  #unserved = 0;
  #isReading = false;

  constructor(node: Etcd3, stream: WatchStream, onLost: () => void) {
    this.#timer = setInterval(() => {
      if (Math.max(this.#unheard, this.#unserved) >= UNANSWERED_MAX) return onLost();
      this.#unheard += 1;
      this.#unserved += 1;
      stream.write({ progress_request: {} });
      void this.#read(node);
    }, ASK_MS);
  }

  async #read(node: Etcd3): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      await readNothing(node, Date.now() + ASK_TIMEOUT_MS);
      this.#unserved = 0;
    } catch {
      // it counts as unanswered
    } finally {
      this.#isReading = false;
    }
  }

  heard(): void {
    this.#unheard = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
