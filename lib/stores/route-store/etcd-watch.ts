import type { Etcd3, Watcher } from "etcd3";
import { coalesce } from "./coalesce.ts";

const RESTART_MS = 500;
const CLOSE_TIMEOUT_MS = 500;

/**
 * Watches a prefix. Each connection, after the first, counts as a change, since the listener reads everything
 * anyway: so no revision needs to be resumed from, and a compaction costs nothing.
 */
export class EtcdWatch {
  /** Resolves when the watch is first in place. */
  readonly established: Promise<void>;
  readonly #client: Etcd3;
  readonly #prefix: string;
  readonly #notify: () => void;
  #watcher: Watcher;
  #restart: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(client: Etcd3, prefix: string, onChange: () => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.established = promise;
    this.#client = client;
    this.#prefix = prefix;
    this.#notify = coalesce(onChange, () => !this.#closed);
    this.#watcher = this.#start(resolve);
  }

  /** Tells etcd, and waits a moment for it to agree: an etcd that is away must not hold up a shut-down. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restart);
    const cancelled = this.#watcher.cancel().catch(() => {}); // then the stream is gone, and the watch with it
    await Promise.race([cancelled, Bun.sleep(CLOSE_TIMEOUT_MS)]);
  }

  #start(onConnected: () => void): Watcher {
    const watcher = this.#client.watch().prefix(this.#prefix).watcher();
    let connected = onConnected;
    watcher.on("connected", () => {
      connected();
      connected = this.#notify;
    });
    watcher.on("data", this.#notify);
    // etcd has ended this watch and the library will not resume it, after a compaction for one
    watcher.on("error", () => {
      if (this.#closed) return;
      clearTimeout(this.#restart);
      this.#restart = setTimeout(() => {
        this.#watcher = this.#start(this.#notify);
      }, RESTART_MS);
    });
    return watcher;
  }
}
