import type { Clock } from "@ostiary/lib/async";
import { ApiError, bodyTooLarge, reasonOf, systemErrorCode } from "@ostiary/lib/domain/errors";
import type { CallSpan } from "@ostiary/lib/runtime/telemetry";
import { MalformedResponse } from "./http-bytes.ts";
import type { Abortable, CallHandle } from "./upstream-client.ts";

/**
 * The interval of the sweep over calls in flight. A call ends at most 100 ms after its client left (GW-123).
 */
const SWEEP_MS = 50;
/**
 * The time without a read after which a client counts as a slow reader. The calls of slow readers end when
 * memory is short.
 */
const READER_PATIENCE_MS = 1_000;

const ENDED = -1;

export interface CallClient {
  readonly request: Request;
  readonly server: { timeout(request: Request, seconds: number): void };
}

type StopReason =
  | "client_gone"
  | "client_slow"
  | "reader_slow"
  | "timeout"
  | "idle"
  | "too_large"
  | "unwanted";

export class ClientGone extends Error {
  constructor() {
    super("The client disconnected before the response began.");
    this.name = "ClientGone";
  }
}

/**
 * The calls to services in flight. One timer sweeps over all calls. An abort listener and timers for each
 * call would cost more than the rest of most requests.
 */
export class UpstreamCalls {
  readonly #clock: Pick<Clock, "after" | "elapsedMs">;
  /**
   * The calls in flight, in no particular order. Loops use a copy, because each call that ends changes the
   * array. A Set would retain removed calls until a full garbage collection.
   */
  readonly #underway: UpstreamCall[] = [];
  #sweeping = false;
  /** The time at the last sweep. Reading the clock for each deadline would cost more. */
  timeMs = 0;

  constructor(clock: Pick<Clock, "after" | "elapsedMs">) {
    this.#clock = clock;
  }

  get open(): number {
    return this.#underway.length;
  }

  begin(client: CallClient): UpstreamCall {
    const call = new UpstreamCall(client, this);
    call.index = this.#underway.push(call) - 1;
    if (!this.#sweeping) {
      this.timeMs = this.#clock.elapsedMs();
      this.#sweepLater();
    }
    return call;
  }

  end(call: UpstreamCall): void {
    if (call.index === ENDED) return;
    const last = this.#underway.pop();
    if (last !== undefined && last !== call) {
      this.#underway[call.index] = last;
      last.index = call.index;
    }
    call.index = ENDED;
  }

  /** Returns the deadline of a wait that starts now. It takes effect up to two sweeps late. */
  deadline(ms: number): number {
    return this.timeMs + ms + SWEEP_MS;
  }

  endSlowReaders(): void {
    for (const call of [...this.#underway]) call.endUnread(this.timeMs - READER_PATIENCE_MS);
  }

  #sweepLater(): void {
    this.#sweeping = true;
    this.#clock.after(SWEEP_MS, () => {
      this.timeMs = this.#clock.elapsedMs();
      for (const call of [...this.#underway]) call.check(this.timeMs);
      if (this.#underway.length > 0) this.#sweepLater();
      else this.#sweeping = false;
    });
  }
}

/**
 * One call to a service, and the causes that end it early. The service's timer runs only while the gateway
 * waits for the service, never while the client is slow.
 */
export class UpstreamCall implements CallHandle {
  /** Whether the head of the response has arrived. The client may still be sending the request body. */
  responded = false;
  reached = false;
  /** Time at which the call was sent, in elapsed milliseconds of the clock. */
  sent = 0;
  span: CallSpan | null = null;
  underway: Abortable | null = null;
  index = ENDED;
  readonly #client: CallClient;
  readonly #calls: UpstreamCalls;
  #clientUntilMs = Number.POSITIVE_INFINITY;
  #serviceUntilMs = Number.POSITIVE_INFINITY;
  #serviceReason: StopReason = "timeout";
  #reason: StopReason | ApiError | null = null;
  #unreadSinceMs = Number.POSITIVE_INFINITY;

  constructor(client: CallClient, calls: UpstreamCalls) {
    this.#client = client;
    this.#calls = calls;
  }

  get stopped(): boolean {
    return this.#reason !== null;
  }

  /**
   * Stops the call immediately when the client leaves. The runtime disconnects clients that send malformed
   * bodies, and the rest of a malformed body must not reach the service.
   */
  watchClient(): void {
    this.#client.request.signal.onabort = () => this.stop("client_gone");
  }

  /** Starts the service's timer: the next bytes must arrive within `ms`. */
  awaitService(ms: number, reason: "timeout" | "idle"): void {
    this.#serviceUntilMs = this.#calls.deadline(ms);
    this.#serviceReason = reason;
  }

  serviceSent(): void {
    this.#serviceUntilMs = Number.POSITIVE_INFINITY;
  }

  /** Starts the client's timer: the next chunk of its body must arrive within `ms`. */
  awaitClient(ms: number): void {
    this.#clientUntilMs = this.#calls.deadline(ms);
  }

  clientSent(): void {
    this.#clientUntilMs = Number.POSITIVE_INFINITY;
  }

  /** Records that a chunk waits for the client to read it. */
  awaitClientRead(): void {
    this.#unreadSinceMs = this.#calls.timeMs;
  }

  clientRead(): void {
    this.#unreadSinceMs = Number.POSITIVE_INFINITY;
  }

  /** Stops the call and ends the client's connection if the client has read nothing since `timeMs`. */
  endUnread(timeMs: number): void {
    if (this.#unreadSinceMs > timeMs) return;
    this.stop("reader_slow");
    // Close the connection too: a client that does not read would not notice the failure.
    this.#client.server.timeout(this.#client.request, 1);
  }

  /** Stops the call if its client has left or a deadline has passed. */
  check(timeMs: number): void {
    if (this.#client.request.signal.aborted) this.stop("client_gone");
    else if (timeMs >= this.#clientUntilMs) this.stop("client_slow");
    else if (timeMs >= this.#serviceUntilMs) this.stop(this.#serviceReason);
  }

  /**
   * Stops the call, and aborts the request to the service. Only the first reason counts.
   *
   * @param reason an error is the one that the client gets
   */
  stop(reason: StopReason | ApiError): void {
    this.#reason ??= reason;
    this.end();
    this.#abort();
  }

  end(): void {
    this.#calls.end(this);
  }

  #abort(): void {
    const { underway } = this;
    this.underway = null;
    underway?.abort();
  }

  failure(cause: unknown, max_body_bytes: number): Error {
    if (this.#reason === null && this.#client.request.signal.aborted) this.#reason = "client_gone";
    this.end();
    this.#abort();
    if (this.#reason instanceof ApiError) return this.#reason;
    switch (this.#reason) {
      case "client_gone":
        return new ClientGone();
      case "client_slow":
        return bodyTimeout();
      case "reader_slow":
        return new Error("The client did not read while memory was short.");
      case "too_large":
        return bodyTooLarge(max_body_bytes);
      case "timeout":
        return badGateway("The service did not begin its response in time.");
      case "unwanted":
        return new Error("The rest of the response was not needed.");
      case "idle":
        return badGateway("The service paused too long within its response.");
      case null:
        if (cause instanceof ApiError) return cause;
        if (cause instanceof MalformedResponse)
          return badGateway(`The response is malformed. ${cause.message}`);
        return badGateway(`The service could not be reached or broke off: ${causeCode(cause)}.`);
    }
  }
}

export function failSpan(span: CallSpan | null, failure: unknown): void {
  if (span === null) return;
  if (failure instanceof ClientGone) span.failed("cancelled");
  else span.failed(failure instanceof Error ? failure.name : "_OTHER", reasonOf(failure));
}

/**
 * Returns the 408 for a request body that stopped arriving. The response closes the connection, because the
 * rest of the body may still arrive and would be parsed as a request.
 */
export function bodyTimeout(): ApiError {
  return new ApiError("REQUEST_TIMEOUT", { headers: { Connection: "close" } });
}

export function badGateway(reason: string): ApiError {
  return new ApiError("BAD_GATEWAY", { kind: "network", cause: new Error(reason) });
}

/**
 * Returns the code of an error. Only the code may be logged, because the runtime's messages contain the URL
 * with its query.
 */
function causeCode(cause: unknown): string {
  return systemErrorCode(cause) ?? (cause instanceof Error ? cause.name : "unknown");
}
