import type { Clock } from "@ostiary/lib/async";
import { ApiError, bodyTooLarge, errorCode } from "@ostiary/lib/domain/errors";
import type { CallSpan } from "@ostiary/lib/runtime/telemetry";

/** How often calls under way are looked at. A client that leaves ends its call within 100 ms (contract 4). */
const SWEEP_MS = 50;
/** A sweep counts as so much time at most: while the gateway itself is held up nobody else is late. */
const STEP_MAX_MS = 2 * SWEEP_MS;
/** Who has not read for so long is a slow reader: what waits for it is the first to be given up. */
const READER_PATIENCE_MS = 1_000;

/** The place of a call that is not under way. */
const ENDED = -1;

/** Whom a call is for, and the runtime's hold on its connection. */
export interface CallClient {
  readonly request: Request;
  readonly server: { timeout(request: Request, seconds: number): void };
}

/** Why a call of a service was given up. */
export type StopReason = "client_gone" | "client_slow" | "reader_slow" | "timeout" | "idle" | "too_large";

/** The client left before it had an answer: nobody is there to be told anything. */
export class ClientGone extends Error {
  constructor() {
    super("The client left before it had an answer.");
    this.name = "ClientGone";
  }
}

/**
 * The calls of services that are under way. One timer looks at all of them: a listener on the signal of each
 * request, and timers for each call, would cost more than most requests do otherwise.
 */
export class UpstreamCalls {
  readonly #clock: Clock;
  /**
   * In no order, and changed by each call that ends: who walks along it walks along a copy. Not a set: one that calls
   * enter and leave all the time keeps them until a full collection.
   */
  readonly #underway: UpstreamCall[] = [];
  #sweeping = false;
  /** What sweeps have counted, which deadlines are told by. */
  #time_ms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many are under way. */
  get open(): number {
    return this.#underway.length;
  }

  /** A call on behalf of `client`, which must be ended. */
  begin(client: CallClient): UpstreamCall {
    const call = new UpstreamCall(client, this);
    call.place = this.#underway.push(call) - 1;
    if (!this.#sweeping) this.#sweepLater();
    return call;
  }

  /** Nothing of the call is awaited any more. */
  end(call: UpstreamCall): void {
    if (call.place === ENDED) return;
    const last = this.#underway.pop();
    if (last !== undefined && last !== call) {
      this.#underway[call.place] = last;
      last.place = call.place;
    }
    call.place = ENDED;
  }

  /** When something that is awaited from now on for `ms` is late: up to two sweeps after that. */
  deadline(ms: number): number {
    return this.#time_ms + ms + SWEEP_MS;
  }

  /** What is counted against {@link deadline}. */
  get time_ms(): number {
    return this.#time_ms;
  }

  /** Gives up the answers that their clients do not read, whose buffers are full. */
  endSlowReaders(): void {
    for (const call of [...this.#underway]) call.endUnread(this.#time_ms - READER_PATIENCE_MS);
  }

  #sweepLater(): void {
    this.#sweeping = true;
    const before_ms = this.#clock.elapsed_ms();
    this.#clock.after(SWEEP_MS, () => {
      this.#time_ms += Math.min(this.#clock.elapsed_ms() - before_ms, STEP_MAX_MS);
      for (const call of [...this.#underway]) call.look(this.#time_ms);
      if (this.#underway.length > 0) this.#sweepLater();
      else this.#sweeping = false;
    });
  }
}

/**
 * One call of a service, and what ends it early. The service's time runs only while the service is waited for:
 * never while the client is slow.
 */
export class UpstreamCall {
  /** The head of the response is there; the client may be sending still. */
  answered = false;
  /** When the service was called, by `performance.now()`. */
  sent = 0;
  /** Where the request's trace is recorded. */
  span: CallSpan | null = null;
  /** Among the calls under way. */
  place = ENDED;
  readonly #client: CallClient;
  readonly #calls: UpstreamCalls;
  readonly #controller = new AbortController();
  #client_until_ms = Number.POSITIVE_INFINITY;
  #service_until_ms = Number.POSITIVE_INFINITY;
  #service_reason: StopReason = "timeout";
  #reason: StopReason | null = null;
  #unread_since_ms = Number.POSITIVE_INFINITY;

  constructor(client: CallClient, calls: UpstreamCalls) {
    this.#client = client;
    this.#calls = calls;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get stopped(): boolean {
    return this.#reason !== null;
  }

  /**
   * Has the call stopped in the moment in which the client leaves: of a body that turns out malformed, for which
   * the runtime lets the client go, nothing is to reach the service.
   */
  watchClient(): void {
    this.#client.request.signal.onabort = () => this.stop("client_gone");
  }

  /** Gives the service `ms` for what is awaited next. */
  awaitService(ms: number, reason: "timeout" | "idle"): void {
    this.#service_until_ms = this.#calls.deadline(ms);
    this.#service_reason = reason;
  }

  /** The service is not waited for any more, or not now. */
  serviceCame(): void {
    this.#service_until_ms = Number.POSITIVE_INFINITY;
  }

  /** Gives the client `ms` for what is awaited of its body next. */
  awaitClient(ms: number): void {
    this.#client_until_ms = this.#calls.deadline(ms);
  }

  clientCame(): void {
    this.#client_until_ms = Number.POSITIVE_INFINITY;
  }

  /** The client has a chunk that it must read before it gets the next one. */
  awaitReader(): void {
    this.#unread_since_ms = this.#calls.time_ms;
  }

  readerCame(): void {
    this.#unread_since_ms = Number.POSITIVE_INFINITY;
  }

  /** Stops the call, and ends the client's connection, if it has read nothing since `time_ms`. */
  endUnread(time_ms: number): void {
    if (this.#unread_since_ms > time_ms) return;
    this.stop("reader_slow");
    // a client that does not read would not see its answer fail, and would keep its place
    this.#client.server.timeout(this.#client.request, 1);
  }

  /** Stops the call if its client has left, or somebody is late. */
  look(time_ms: number): void {
    if (this.#client.request.signal.aborted) this.stop("client_gone");
    else if (time_ms >= this.#client_until_ms) this.stop("client_slow");
    else if (time_ms >= this.#service_until_ms) this.stop(this.#service_reason);
  }

  /** Gives the call up; the first reason stays. */
  stop(reason: StopReason): void {
    this.#reason ??= reason;
    this.end();
    this.#controller.abort();
  }

  /** Nothing of the call is awaited any more. */
  end(): void {
    this.#calls.end(this);
  }

  /** Ends a call that failed: what that means to the client. */
  failure(cause: unknown, body_bytes_max: number): Error {
    if (this.#reason === null && this.#client.request.signal.aborted) this.#reason = "client_gone";
    this.end();
    this.#controller.abort();
    switch (this.#reason) {
      case "client_gone":
        return new ClientGone();
      case "client_slow":
        return bodyTimeout();
      case "reader_slow":
        return new Error("The client did not read while memory was short.");
      case "too_large":
        return bodyTooLarge(body_bytes_max);
      case "timeout":
        return badGateway("The service did not begin its response in time.");
      case "idle":
        return badGateway("The service paused too long within its response.");
      case null:
        if (cause instanceof ApiError) return cause;
        return badGateway(`The service could not be reached or broke off: ${faultCode(cause)}.`);
    }
  }
}

/** The rest of the body may still come, and is not to be taken for a request. */
export function bodyTimeout(): ApiError {
  return new ApiError("REQUEST_TIMEOUT", { headers: { Connection: "close" } });
}

export function badGateway(reason: string): ApiError {
  return new ApiError("BAD_GATEWAY", { kind: "network", cause: new Error(reason) });
}

/** The runtime's messages hold the URL, and so the query: only their code may be logged. */
function faultCode(cause: unknown): string {
  return errorCode(cause) ?? (cause instanceof Error ? cause.name : "unknown");
}
