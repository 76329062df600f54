import { type Connection, ConnectionBroken } from "./connection.ts";
import type { ConnectionPool, PooledRequest } from "./pool.ts";
import type { Abortable, CallHandle, UpstreamRequest, UpstreamResponse } from "./upstream-client.ts";

/** The methods whose requests are sent again if a reused connection is lost (GW-124). */
const RETRIED_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * The attempts to send one request. Repeats the request once if a reused connection is lost before the first
 * byte of the response (GW-124).
 */
export class RequestAttempts implements PooledRequest, Abortable {
  readonly request: UpstreamRequest;
  readonly #pool: ConnectionPool;
  readonly #handle: CallHandle;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (cause: unknown) => void;
  #connection: Connection | null = null;
  #retried = false;

  constructor(
    request: UpstreamRequest,
    pool: ConnectionPool,
    handle: CallHandle,
    resolve: (response: UpstreamResponse) => void,
    reject: (cause: unknown) => void,
  ) {
    this.request = request;
    this.#pool = pool;
    this.#handle = handle;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  sendOver(connection: Connection): void {
    this.#connection = connection;
    this.#handle.reached = true;
    connection.send(this);
  }

  responded(response: UpstreamResponse): void {
    this.#resolve(response);
  }

  failed(cause: unknown, isStale: boolean): void {
    if (isStale && !this.#retried && RETRIED_METHODS.has(this.request.method)) {
      this.#retried = true;
      this.#handle.underway = this;
      this.#pool.sendFresh(this);
    } else {
      this.#handle.underway = null;
      this.#reject(cause);
    }
  }

  unsent(): void {
    this.#handle.underway = this;
    this.#pool.sendFresh(this);
  }

  released(): void {
    this.#connection = null;
    this.#handle.underway = null;
  }

  abort(): void {
    if (this.#connection !== null) {
      this.#connection.abort();
    } else {
      this.#pool.withdraw(this);
      this.#handle.underway = null;
      this.#reject(new ConnectionBroken("ECONNABORTED"));
    }
  }
}
