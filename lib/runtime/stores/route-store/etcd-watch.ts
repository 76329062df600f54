import { type Etcd3, type IEvent, Range } from "etcd3";
import { Loop } from "../../../async/index.ts";
import type { RouteChange, RouteListener } from "./route-store.ts";

/** Reads below the watched prefix, and returns the client of the node that responded. */
type Read = () => Promise<Etcd3>;

const RESTART_MS = 200;
const READ_MS = 1_000;

/**
 * Watches a prefix on one node. A silent watch does not show whether its node still learns of changes, so the watch
 * restarts when a periodic read fails or goes to another node. The listener reads everything again after each restart,
 * so the watch does not resume from a revision, and a compaction cannot break it.
 */
export class EtcdWatch {
  /** Resolves when etcd has created the first watch. */
  readonly established: Promise<void>;
  readonly #prefix: string;
  readonly #read: Read;
  readonly #listener: RouteListener;
  readonly #loop: Loop;
  #onCreated: () => void;
  #end: () => void = () => {};

  constructor(read: Read, prefix: string, listener: RouteListener) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.established = promise;
    this.#read = read;
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
    this.#end();
  }

  /** Watches on one node until the stream ends or a read beside it fails. */
  async #watch(stopping: () => boolean): Promise<void> {
    const client = await this.#read();
    if (stopping()) return;
    const stream = await client.watchClient.watch();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    let hasEnded = false;
    const end = () => {
      hasEnded = true;
      resolve();
    };
    this.#end = end;
    stream.on("error", end);
    stream.on("end", end);
    stream.on("data", (message) => {
      if (hasEnded) return;
      if (message.canceled) end();
      else if (message.created) this.#onCreated();
      else if (message.events.length > 0) this.#listener.changed(message.events.map(changeOf));
    });
    const { start, end: range_end } = Range.prefix(this.#prefix);
    stream.write({ create_request: { key: Buffer.from(start), range_end: Buffer.from(range_end) } });
    const reading = this.#readBeside(client, end);
    if (stopping()) end();
    await ended;
    void reading.stop();
    stream.cancel();
  }

  #readBeside(client: Etcd3, end: () => void): Loop {
    const task = async () => {
      if ((await this.#read()) !== client) end();
    };
    const reading = new Loop({ task, pauseMs: READ_MS, retryMs: READ_MS, onFailure: end });
    reading.start(READ_MS);
    return reading;
  }
}

function changeOf({ type, kv }: IEvent): RouteChange {
  const value = type === "Delete" ? null : kv.value.toString();
  return { key: kv.key.toString(), value, revision: Number(kv.mod_revision) };
}
