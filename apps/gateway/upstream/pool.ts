import {
  type CarriedRequest,
  type CloseReason,
  type Connection,
  ConnectionBroken,
  type ConnectionEnvironment,
} from "./connection.ts";
import type { ServiceConnections } from "./connection-counts.ts";
import { Dial, type DialOwner, type DialTarget } from "./dial.ts";
import { type Resolve, ServiceAddresses } from "./service-addresses.ts";

export interface PoolOptions {
  /** The maximum number of idle connections kept for each origin. */
  readonly idleMax: number;
  /** The time for which an idle connection is kept, unless the service announces an earlier close. */
  readonly keepAliveMs: number;
  /** The age after which a connection is not reused, 10 % more or less. */
  readonly ageMaxMs: number;
  readonly connectTimeoutMs: number;
}

/** The number of connections that the process may still open. */
export interface ConnectionBudget {
  /** Reserves one connection. Returns false if none is left. */
  take(): boolean;
  give(): void;
}

export interface PoolEnvironment extends ConnectionEnvironment {
  readonly options: PoolOptions;
  readonly budget: ConnectionBudget;
  readonly resolve: Resolve;
  readonly random: () => number;
}

/** A request that waits for a connection, and then for its response. */
export interface PooledRequest extends CarriedRequest {
  sendOver(connection: Connection): void;
}

const DIALS_MAX = 256;
/**
 * The time before an announced close at which an idle connection is no longer reused. The margin covers
 * network delay and timer differences between the two hosts.
 */
const KEEP_ALIVE_MARGIN_MS = 1_000;
/** The random part of the maximum age, so that connections of the same age do not end together. */
const AGE_SPREAD = 0.1;

/**
 * The connections to one origin. A request uses the idle connection that was used last. If no connection is
 * idle, the request waits for the next connection that is established or freed. The pool dials one connection
 * for each waiting request, within its limits.
 */
export class ConnectionPool implements DialOwner {
  readonly #target: DialTarget;
  readonly #shared: PoolEnvironment;
  readonly #counts: ServiceConnections;
  /** Idle connections, the longest idle first. */
  readonly #idle: Connection[] = [];
  readonly #waiting: { readonly request: PooledRequest; readonly untilMs: number }[] = [];
  /** Whether a timer is set for the oldest waiting request. */
  #isTimed = false;
  #dialing = 0;
  #attempts = 0;
  #open = 0;
  /**
   * The lowest number of idle connections since the last {@link sweep}: the connections that were not needed.
   */
  #spare = 0;

  constructor(origin: string, shared: PoolEnvironment, counts: ServiceConnections) {
    const { hostname, port } = new URL(origin);
    const { options, resolve, clock } = shared;
    this.#target = {
      addresses: new ServiceAddresses(hostname.replace(/^\[|\]$/g, ""), resolve, clock),
      port: port === "" ? 80 : Number(port),
      connectTimeoutMs: options.connectTimeoutMs,
    };
    this.#shared = shared;
    this.#counts = counts;
  }

  get open(): number {
    return this.#open;
  }

  get idle(): number {
    return this.#idle.length;
  }

  /** Whether the pool has no connection, no waiting request, and no address to skip. */
  get unused(): boolean {
    if (this.#target.addresses.isSkippingAny) return false;
    return this.#open === 0 && this.#attempts === 0 && this.#waiting.length === 0;
  }

  /** Sends a request over an idle connection, or over the next connection that becomes available. */
  send(request: PooledRequest): void {
    const connection = this.#takeIdle();
    if (connection === null) {
      this.sendFresh(request);
    } else {
      this.#counts.reused += 1;
      request.sendOver(connection);
    }
  }

  /**
   * Sends a request, but not over a connection that is idle now, because all idle connections may be dead.
   */
  sendFresh(request: PooledRequest): void {
    const { clock, options } = this.#shared;
    this.#waiting.push({ request, untilMs: clock.elapsedMs() + options.connectTimeoutMs });
    if (!this.#isTimed) clock.after(options.connectTimeoutMs, this.#endLate);
    this.#isTimed = true;
    this.dial();
  }

  withdraw(request: PooledRequest): void {
    const index = this.#waiting.findIndex((each) => each.request === request);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /** Establishes connections for the waiting requests, as far as the limits allow. */
  dial(): void {
    while (this.#dialing < Math.min(this.#waiting.length, DIALS_MAX) && this.takeAttempt()) {
      this.#dialing += 1;
      void new Dial(this, this.#target, this.#shared).start();
    }
  }

  takeAttempt(): boolean {
    if (!this.#shared.budget.take()) return false;
    this.#attempts += 1;
    return true;
  }

  giveAttempt(): void {
    this.#attempts -= 1;
    this.#counts.failed += 1;
    this.#shared.budget.give();
  }

  opened(connection: Connection, tookMs: number): void {
    this.#attempts -= 1;
    this.#open += 1;
    this.#counts.opened(tookMs);
    const { clock, options, random } = this.#shared;
    const nowMs = clock.elapsedMs();
    connection.agedAtMs = nowMs + options.ageMaxMs * (1 + AGE_SPREAD * (2 * random() - 1));
    connection.usableUntilMs = Math.min(nowMs + options.keepAliveMs, connection.agedAtMs);
    this.#offer(connection);
    this.dial();
  }

  dialed(failure: { readonly cause: unknown } | null): void {
    this.#dialing -= 1;
    if (failure === null) return;
    // Fail the oldest waiting request if the remaining dials are too few for all waiting requests.
    if (this.#waiting.length > this.#dialing) this.#waiting.shift()?.request.failed(failure.cause, false);
    this.dial();
  }

  /** Replaces a dial that has lasted too long. The waiting requests have their own deadlines. */
  overdue(): void {
    this.#dialing -= 1;
    this.dial();
  }

  freed(connection: Connection): void {
    const nowMs = this.#shared.clock.elapsedMs();
    connection.usableUntilMs = Math.min(nowMs + this.#keepAlive(connection), connection.agedAtMs);
    if (connection.usableUntilMs > nowMs) {
      this.#offer(connection);
    } else {
      this.#retire(connection, nowMs);
      this.dial(); // waiting requests may have counted on this connection
    }
  }

  closed(connection: Connection, reason: CloseReason): void {
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    this.#spare = Math.min(this.#spare, this.#idle.length);
    this.#open -= 1;
    this.#counts.closed[reason] += 1;
    this.#shared.budget.give();
  }

  /**
   * Closes the idle connections that expire before `untilMs`, and the unneeded idle connections above the
   * limit.
   */
  sweep(untilMs: number): void {
    const excess = Math.max(0, this.#spare - this.#shared.options.idleMax);
    const retired = this.#idle.filter(
      (connection, index) => index < excess || connection.usableUntilMs <= untilMs,
    );
    for (const connection of retired) this.#retire(connection, untilMs);
    this.#spare = this.#idle.length;
  }

  retireIdle(): void {
    for (const connection of [...this.#idle]) connection.retire();
  }

  /**
   * Sends the oldest waiting request over a connection. Without a waiting request, the connection becomes
   * idle.
   */
  #offer(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(connection);
    else next.request.sendOver(connection);
  }

  #takeIdle(): Connection | null {
    const nowMs = this.#shared.clock.elapsedMs();
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (this.#idle.length < this.#spare) this.#spare = this.#idle.length;
      if (connection.usableUntilMs > nowMs) return connection;
      this.#retire(connection, nowMs);
    }
    return null;
  }

  #retire(connection: Connection, nowMs: number): void {
    connection.retire(connection.agedAtMs <= nowMs ? "aged" : "idle");
  }

  #keepAlive({ keepAliveMs }: Connection): number {
    const { options } = this.#shared;
    if (keepAliveMs === null) return options.keepAliveMs;
    return Math.min(options.keepAliveMs, keepAliveMs - KEEP_ALIVE_MARGIN_MS);
  }

  readonly #endLate = () => {
    const { clock } = this.#shared;
    const nowMs = clock.elapsedMs();
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (first.untilMs > nowMs) {
        clock.after(first.untilMs - nowMs, this.#endLate);
        return;
      }
      this.#waiting.shift();
      first.request.failed(new ConnectionBroken("ETIMEDOUT"), false);
    }
    this.#isTimed = false;
  };
}
