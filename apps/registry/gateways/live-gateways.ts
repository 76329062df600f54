import { Loop } from "@ostiary/lib/async";
import type { GatewayInstance } from "@ostiary/lib/contracts/gateway-instance";
import { INSTANCES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { RouteChange, RouteStore, RouteWatch } from "@ostiary/lib/runtime/stores/route-store";
import { readInstance } from "./gateway.ts";

const RETRY_MS = 250;

/**
 * Keeps track of the running gateways and of what each has loaded, with one watch for all callers. While the route
 * store is unavailable, keeps the last known state.
 */
export class LiveGateways {
  readonly #store: Pick<RouteStore, "list" | "watch">;
  readonly #onChange: () => void;
  readonly #following: Loop;
  /** The gateways by key. */
  #instances = new Map<string, GatewayInstance>();
  /** The changes that the watch reported during a full read. */
  #told: RouteChange[] = [];
  /**
   * The number of times that the watch may have missed changes. `#readUpTo` is this number at the last full
   * read.
   */
  #interruptions = 1;
  #readUpTo = 0;
  #watch: RouteWatch | null = null;

  constructor(store: Pick<RouteStore, "list" | "watch">, onChange: () => void) {
    this.#store = store;
    this.#onChange = onChange;
    this.#following = new Loop({
      task: () => this.#readAll(),
      retryMs: RETRY_MS,
      // the loop retries; `instances` is null until the first read succeeds
      onFailure: () => {},
    });
  }

  start(): void {
    this.#following.start();
  }

  async stop(): Promise<void> {
    await this.#following.stop();
    await this.#watch?.close();
  }

  /** The gateways, or null before the first read. */
  get instances(): readonly GatewayInstance[] | null {
    return this.#readUpTo === 0 ? null : [...this.#instances.values()];
  }

  async #readAll(): Promise<void> {
    this.#watch ??= await this.#store.watch(INSTANCES_PREFIX, {
      changed: (changes) => this.#hear(changes),
      interrupted: () => {
        this.#interruptions += 1;
        // the next full read includes the earlier changes
        this.#told = [];
        this.#following.wake();
      },
    });
    const interruptions = this.#interruptions;
    const { revision, entries } = await this.#store.list(INSTANCES_PREFIX);
    // the interruption woke the loop, which reads again
    if (interruptions !== this.#interruptions) return;
    const told = this.#told.filter((change) => change.revision > revision);
    this.#told = [];
    this.#readUpTo = interruptions;
    this.#instances.clear();
    this.#apply(entries);
    this.#apply(told);
    this.#onChange();
  }

  #hear(changes: readonly RouteChange[]): void {
    if (this.#readUpTo < this.#interruptions) {
      this.#told.push(...changes);
      return;
    }
    this.#apply(changes);
    this.#onChange();
  }

  #apply(changes: readonly RouteChange[]): void {
    for (const { key, value } of changes) {
      const instance = value === null ? null : readInstance({ key, value });
      if (instance === null) this.#instances.delete(key);
      else this.#instances.set(key, instance);
    }
  }
}
