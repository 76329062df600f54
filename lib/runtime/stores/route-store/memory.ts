import { observed } from "../observed.ts";
import type { StoreObserver } from "../observer.ts";
import { coalesce } from "./coalesce.ts";
import type { FencedWrite, RouteEntry, RouteStore, RouteWatch } from "./route-store.ts";

interface Watch {
  prefix: string;
  notify: () => void;
}

/** Entries of this process. Closing the store ends its watches; the entries stay for those who share it. */
export class MemoryRouteStore implements RouteStore {
  readonly #observer: StoreObserver;
  readonly #namespace: string;
  readonly #entries = new Map<string, string>();
  readonly #fences = new Map<string, number>();
  readonly #watches = new Set<Watch>();

  constructor(namespace: string, observer: StoreObserver) {
    this.#namespace = namespace;
    this.#observer = observer;
  }

  get(key: string): Promise<RouteEntry | null> {
    return this.#observed("get", () => {
      const value = this.#entries.get(key);
      return value === undefined ? null : { key, value };
    });
  }

  list(prefix: string): Promise<RouteEntry[]> {
    return this.#observed("list", () =>
      [...this.#entries]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, value]) => ({ key, value }))
        .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))),
    );
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

  async watch(prefix: string, onChange: () => void): Promise<RouteWatch> {
    const watch: Watch = { prefix, notify: coalesce(onChange, () => this.#watches.has(watch)) };
    this.#watches.add(watch);
    return {
      close: async () => {
        this.#watches.delete(watch);
      },
    };
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {
    this.#watches.clear();
  }

  #write(key: string, value: string | null): void {
    if (value === null) {
      if (!this.#entries.delete(key)) return;
    } else this.#entries.set(key, value);
    for (const watch of this.#watches) {
      if (key.startsWith(watch.prefix)) watch.notify();
    }
  }

  #observed<T>(operation: string, work: () => T): Promise<T> {
    return observed(this.#observer, { system: "memory", operation, namespace: this.#namespace }, async () =>
      work(),
    );
  }
}
