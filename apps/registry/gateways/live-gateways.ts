import { Loop } from "@ostiary/lib/async";
import { type GatewayInstance, INSTANCES_PREFIX } from "@ostiary/lib/contracts/route-store";
import type { RouteChange, RouteStore, RouteWatch } from "@ostiary/lib/runtime/stores/route-store";
import { readInstance } from "./gateway.ts";

const RETRY_MS = 250;

/**
 * The gateways that run and what each has loaded, followed by one watch however many ask. While the route store
 * is away they stay as they were last seen.
 */
export class LiveGateways {
  readonly #store: Pick<RouteStore, "list" | "watch">;
  readonly #onChange: () => void;
  readonly #following: Loop;
  /** By key. */
  #instances = new Map<string, GatewayInstance>();
  /** What the watch told while all was read. */
  #told: RouteChange[] = [];
  /** How often changes may have passed unseen, and up to which of these times all has been read since. */
  #interruptions = 1;
  #readUpTo = 0;
  #watch: RouteWatch | null = null;

  constructor(store: Pick<RouteStore, "list" | "watch">, onChange: () => void) {
    this.#store = store;
    this.#onChange = onChange;
    this.#following = new Loop({
      task: () => this.#readAll(),
      retry_ms: RETRY_MS,
      // who asks for a gateway meanwhile is told that none is known
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

  /** Null before they were first read. */
  get instances(): readonly GatewayInstance[] | null {
    return this.#readUpTo === 0 ? null : [...this.#instances.values()];
  }

  async #readAll(): Promise<void> {
    this.#watch ??= await this.#store.watch(INSTANCES_PREFIX, {
      changed: (changes) => this.#hear(changes),
      interrupted: () => {
        this.#interruptions += 1;
        // what was told before is in what is read after
        this.#told = [];
        this.#following.wake();
      },
    });
    const interruptions = this.#interruptions;
    const { revision, entries } = await this.#store.list(INSTANCES_PREFIX);
    // the loop was woken, and reads again
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
