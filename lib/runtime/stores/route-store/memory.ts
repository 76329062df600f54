import { observed, ROUTE_STORE_NAMESPACE, type StoreObserver } from "../observer.ts";
import type {
  FencedWrite,
  LeaseOptions,
  RouteChange,
  RouteEntry,
  RouteLease,
  RouteListener,
  RouteListing,
  RouteStore,
  RouteSummary,
  RouteWatch,
} from "./route-store.ts";

interface Watch {
  readonly prefix: string;
  readonly listener: RouteListener;
  /** The changes that the listener receives in the next iteration of the event loop. */
  pending: RouteChange[];
}

/** Closing the store ends all watches, but keeps the entries. */
export class MemoryRouteStore implements RouteStore {
  readonly #observer: StoreObserver;
  readonly #entries = new Map<string, RouteEntry>();
  readonly #fences = new Map<string, number>();
  readonly #watches = new Set<Watch>();
  #revision = 0;

  constructor(observer: StoreObserver) {
    this.#observer = observer;
  }

  get(key: string): Promise<RouteEntry | null> {
    return this.#observed("get", () => this.#entries.get(key) ?? null);
  }

  list(prefix: string): Promise<RouteListing> {
    return this.#observed("list", () => ({
      revision: this.#revision,
      entries: [...this.#entries.values()]
        .filter(({ key }) => key.startsWith(prefix))
        .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))),
    }));
  }

  summarize(prefix: string): Promise<RouteSummary> {
    return this.#observed("summarize", () => {
      const entries = [...this.#entries.values()].filter(({ key }) => key.startsWith(prefix));
      const newest = entries.reduce((latest, { revision }) => Math.max(latest, revision), 0);
      return { revision: this.#revision, newest, count: entries.length };
    });
  }

  put(key: string, value: string): Promise<void> {
    return this.#observed("put", () => this.#write(key, value));
  }

  delete(key: string): Promise<void> {
    return this.#observed("delete", () => this.#write(key, null));
  }

  writeFenced({ key, value, fence }: FencedWrite): Promise<boolean> {
    return this.#observed("write_fenced", () => {
      if ((this.#fences.get(fence.key) ?? 0) > fence.value) return false;
      this.#fences.set(fence.key, fence.value);
      this.#write(key, value);
      return true;
    });
  }

  async watch(prefix: string, listener: RouteListener): Promise<RouteWatch> {
    const watch: Watch = { prefix, listener, pending: [] };
    this.#watches.add(watch);
    return {
      close: async () => {
        this.#watches.delete(watch);
      },
    };
  }

  /** The lease ends only when it is released, because store and holder are in the same process. */
  lease(key: string, _: LeaseOptions): RouteLease {
    let isHeld = true;
    return {
      put: (value) => {
        if (isHeld) this.#write(key, value);
      },
      release: async () => {
        isHeld = false;
        this.#write(key, null);
      },
    };
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {
    this.#watches.clear();
  }

  #write(key: string, value: string | null): void {
    if (value === null && !this.#entries.delete(key)) return;
    const revision = ++this.#revision;
    if (value !== null) this.#entries.set(key, { key, value, revision });
    for (const watch of this.#watches) {
      if (!key.startsWith(watch.prefix)) continue;
      if (watch.pending.push({ key, value, revision }) === 1) setImmediate(() => this.#notify(watch));
    }
  }

  #notify(watch: Watch): void {
    const changes = watch.pending;
    watch.pending = [];
    if (this.#watches.has(watch)) watch.listener.changed(changes);
  }

  #observed<T>(operation: string, work: () => T): Promise<T> {
    return observed(
      this.#observer,
      { system: "memory", operation, namespace: ROUTE_STORE_NAMESPACE },
      async () => work(),
    );
  }
}
