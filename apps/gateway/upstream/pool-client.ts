import type { Clock } from "@ostiary/lib/async";
import type { ConnectionCounts } from "./connection-counts.ts";
import { EventLoopTurns } from "./event-loop-turns.ts";
import { FieldNames } from "./field-names.ts";
import { keepsResponseField } from "./headers.ts";
import { type ConnectionBudget, ConnectionPool, type PoolEnvironment, type PoolOptions } from "./pool.ts";
import { RequestAttempts } from "./request-attempts.ts";
import { systemResolve } from "./service-addresses.ts";
import type { CallHandle, UpstreamClient, UpstreamRequest, UpstreamResponse } from "./upstream-client.ts";

export interface PoolClientOptions extends PoolOptions {
  readonly connectionsMax: number;
}

/** The sources of addresses and of chance, which tests replace. */
type PoolSources = Pick<PoolEnvironment, "resolve" | "random">;

/** A pool and the service that first needed it; services may share an origin. */
export interface ServicePool {
  readonly service: string;
  readonly pool: ConnectionPool;
}

const SWEEP_MS = 1_000;

/** Calls services over the gateway's own connections, with one pool for each origin. */
export class PoolClient implements UpstreamClient, ConnectionBudget {
  readonly #options: PoolClientOptions;
  readonly #counts: ConnectionCounts;
  readonly #clock: Clock;
  readonly #pools = new Map<string, ServicePool>();
  readonly #environment: PoolEnvironment;
  #connections = 0;
  #sweeping = false;

  constructor(
    options: PoolClientOptions,
    counts: ConnectionCounts,
    clock: Clock,
    { resolve = systemResolve, random = Math.random }: Partial<PoolSources> = {},
  ) {
    this.#options = options;
    this.#counts = counts;
    this.#clock = clock;
    const names = new FieldNames(keepsResponseField);
    this.#environment = { options, budget: this, names, clock, turns: new EventLoopTurns(), resolve, random };
  }

  fetch(request: UpstreamRequest, handle: CallHandle): Promise<UpstreamResponse> {
    return this.#send(request, handle, false);
  }

  /**
   * Sends a request like {@link fetch}, but not over a connection that is idle now, because all idle
   * connections may be dead.
   */
  fetchFresh(request: UpstreamRequest, handle: CallHandle): Promise<UpstreamResponse> {
    return this.#send(request, handle, true);
  }

  #send(request: UpstreamRequest, handle: CallHandle, isFresh: boolean): Promise<UpstreamResponse> {
    const pool = this.#pools.get(request.origin)?.pool ?? this.#begin(request);
    return new Promise((resolve, reject) => {
      const attempts = new RequestAttempts(request, pool, handle, resolve, reject);
      handle.underway = attempts;
      if (isFresh) pool.sendFresh(attempts);
      else pool.send(attempts);
    });
  }

  get pools(): Iterable<ServicePool> {
    return this.#pools.values();
  }

  closeIdle(): void {
    for (const { pool } of this.#pools.values()) pool.retireIdle();
  }

  take(): boolean {
    if (this.#connections >= this.#options.connectionsMax) this.closeIdle();
    if (this.#connections >= this.#options.connectionsMax) return false;
    this.#connections += 1;
    return true;
  }

  give(): void {
    const wasFull = this.#connections >= this.#options.connectionsMax;
    this.#connections -= 1;
    if (wasFull) queueMicrotask(this.#dialAll);
  }

  readonly #dialAll = () => {
    for (const { pool } of this.#pools.values()) pool.dial();
  };

  #begin({ origin, service }: UpstreamRequest): ConnectionPool {
    const pool = new ConnectionPool(origin, this.#environment, this.#counts.of(service));
    this.#pools.set(origin, { pool, service });
    if (!this.#sweeping) this.#sweepLater();
    return pool;
  }

  #sweepLater(): void {
    this.#sweeping = true;
    this.#clock.after(SWEEP_MS, () => {
      this.#sweep();
      if (this.#pools.size > 0) this.#sweepLater();
      else this.#sweeping = false;
    });
  }

  #sweep(): void {
    const untilMs = this.#clock.elapsedMs() + SWEEP_MS;
    for (const [origin, { pool }] of this.#pools) {
      pool.sweep(untilMs);
      if (pool.unused) this.#pools.delete(origin);
    }
  }
}
