import type { Exchange } from "../exchange.ts";
import { badGateway, ClientGone, type UpstreamCall, type UpstreamCalls } from "../upstream/call.ts";
import type { CallDurations } from "../upstream/call-durations.ts";
import { beginSpan, failSpan } from "../upstream/call-span.ts";
import type { EventStreams } from "../upstream/event-streams.ts";
import type { UpstreamHeaders } from "../upstream/headers.ts";
import { type BodyLimits, openRequestBody, type RequestBody } from "../upstream/request-body.ts";
import { type OnEnd, ResponseRelay } from "../upstream/response-body.ts";
import { arrivedBody, BUFFERED_BYTES_MAX, hasArrived } from "../upstream/whole-body.ts";

export interface ForwardOptions extends BodyLimits {
  /** Between two chunks of a response. */
  readonly idle_timeout_ms: number;
}

/** What a service answered. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** A stream is still on its way when the response begins; a Response is the service's own, all of which is there. */
  readonly body: Uint8Array | Response | ReadableStream<Uint8Array> | null;
}

/** Responses without a body, whatever their headers say. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Step 7: calls the service and streams both ways (contract 4, Headers, and Bodies and time). */
export class Forwarder {
  readonly #options: ForwardOptions;
  readonly #headers: UpstreamHeaders;
  readonly #calls: UpstreamCalls;
  readonly #events: EventStreams;
  readonly #durations: CallDurations;
  #streams = 0;

  constructor(
    options: ForwardOptions,
    headers: UpstreamHeaders,
    open: { readonly calls: UpstreamCalls; readonly events: EventStreams },
    durations: CallDurations,
  ) {
    this.#options = options;
    this.#headers = headers;
    this.#calls = open.calls;
    this.#events = open.events;
    this.#durations = durations;
  }

  /** Answers that are on their way to their clients as streams. */
  get streams(): number {
    return this.#streams;
  }

  /** Calls of services under way, streams included. */
  get calls(): number {
    return this.#calls.open;
  }

  /**
   * Calls the service; resolves with the head of its response. What this or {@link receive} throws is told apart
   * by {@link failure}.
   *
   * @param path path and query to call on the route's service
   */
  send(exchange: Exchange, path: string): Promise<Response> {
    const { request } = exchange;
    // steps before this one may have waited; what only reads does no harm, and is stopped by the sweep
    if (request.method !== "GET" && request.signal.aborted) throw new ClientGone();
    const call = this.#calls.begin(exchange);
    exchange.call = call;
    const body = openRequestBody(exchange, call, this.#options);
    return body instanceof Promise
      ? body.then((opened) => this.#fetch(exchange, call, path, opened))
      : this.#fetch(exchange, call, path, body);
  }

  #fetch(exchange: Exchange, call: UpstreamCall, path: string, body: RequestBody): Promise<Response> {
    const { request, route } = exchange;
    const { headers } = request;
    this.#headers.prepare(headers, exchange);
    call.span = beginSpan(exchange, headers, route.origin + path);
    if (body.content_length !== null) headers.set("content-length", body.content_length);
    exchange.forwarded = true;
    call.sent = performance.now();
    call.awaitService(this.#options.timeout_ms, "timeout");
    return fetch(route.origin + path, {
      method: request.method,
      headers,
      body: body.content,
      redirect: "manual",
      decompress: false,
      signal: call.signal,
      timeout: false,
      // HTTP_PROXY is for calls of the internet, not of one's own services
      proxy: false,
    });
  }

  /**
   * What the service answered, with as much of the body as must be there before the client is answered.
   *
   * @param onEnd told how a streamed body ended
   */
  receive(exchange: Exchange, response: Response, onEnd: OnEnd): UpstreamAnswer | Promise<UpstreamAnswer> {
    const { call, request } = exchange;
    if (call === null) throw new Error("The service has not been called.");
    call.answered = true;
    call.serviceCame();
    const { status, headers } = response;
    this.#measure(exchange, call, status);
    if (status < 200 || status > 599) throw badGateway(`The service answered with the status ${status}.`);
    const length = knownLength(headers);
    if (request.method === "HEAD" || length === 0 || BODILESS.has(status))
      return whole(exchange, response, null);
    const small = length <= BUFFERED_BYTES_MAX;
    const arrived = small ? arrivedAnswer(response) : null;
    if (arrived !== null) return whole(exchange, response, arrived);
    // not before: to ask for it makes a stream, even where all is there
    const { body } = response;
    if (body === null) return whole(exchange, response, null);
    const relay = new ResponseRelay(body, call, this.#options.idle_timeout_ms, (failure) => {
      this.#streams -= 1;
      this.#events.delete(relay);
      onEnd(failure);
    });
    if (small) return relay.whole(length).then((bytes) => whole(exchange, response, bytes));
    headers.delete("content-length");
    return this.#streamed(exchange, response, relay);
  }

  async #streamed(exchange: Exchange, response: Response, relay: ResponseRelay): Promise<UpstreamAnswer> {
    const { status, headers } = response;
    const isEvents = isEventStream(headers);
    // into one that is encoded no comment can be written
    if (isEvents && !headers.has("content-encoding")) {
      this.#streams += 1;
      const body = relay.eventStream();
      this.#events.add(relay);
      return { status, headers, body };
    }
    const first = await relay.next();
    if (first === undefined) return whole(exchange, response, null);
    await relay.lookAhead();
    this.#streams += 1;
    const body = relay.stream(first);
    if (isEvents) this.#events.add(relay);
    return { status, headers, body };
  }

  /**
   * What `thrown` means to the client: for a call that failed ApiError 408 for a body that does not come, 413 for
   * one over the limit, 502 for a service that can not be reached, does not answer in time or breaks off before
   * the client has anything; ClientGone when the client left. Anything else stays what it is.
   */
  failure(exchange: Exchange, thrown: unknown): unknown {
    const { call, forwarded } = exchange;
    if (call === null) return thrown;
    if (!forwarded) {
      call.end();
      return thrown;
    }
    const failure = call.failure(thrown, this.#options.body_bytes_max);
    if (!call.answered) {
      this.#measure(exchange, call, null);
      failSpan(call.span, failure);
    }
    return failure;
  }

  #measure({ route, trace }: Exchange, { sent, span }: UpstreamCall, status: number | null): void {
    const trace_id = trace.recorded ? trace.trace_id : null;
    this.#durations.observe(route.service, status, (performance.now() - sent) / 1000, trace_id);
    if (status !== null) span?.answered(status);
  }
}

/** An answer of which nothing more is to come. */
function whole(
  exchange: Exchange,
  { status, headers }: Response,
  body: Uint8Array | Response | null,
): UpstreamAnswer {
  exchange.call?.end();
  exchange.call = null;
  return { status, headers, body };
}

/**
 * A small answer that is here: itself, since another one of the same bytes would cost as much as all else that is
 * done to it; null while a part is missing. Its bytes where it has no type, for which the runtime would invent one.
 */
function arrivedAnswer(response: Response): Response | Uint8Array | null {
  if (!response.headers.has("content-type")) return arrivedBody(response);
  return hasArrived(response) ? response : null;
}

/** The announced length of a body, infinite where none is announced. */
function knownLength(headers: Headers): number {
  const length = headers.get("content-length");
  return length === null || headers.has("transfer-encoding") ? Number.POSITIVE_INFINITY : Number(length);
}

function isEventStream(headers: Headers): boolean {
  return headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") ?? false;
}
