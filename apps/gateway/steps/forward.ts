import { systemClock } from "@ostiary/lib/async";
import type { Exchange } from "../exchange.ts";
import type { RouteMetrics } from "../route-metrics.ts";
import { ClientGone, failSpan, type UpstreamCall, type UpstreamCalls } from "../upstream/call.ts";
import type { UpstreamHeaders } from "../upstream/headers.ts";
import type { OpenEventStreams } from "../upstream/open-event-streams.ts";
import { type BodyRules, openRequestBody } from "../upstream/request-body.ts";
import { type OnEnd, ResponseRelay } from "../upstream/response-body.ts";
import {
  fieldValue,
  type UpstreamClient,
  type UpstreamRequest,
  type UpstreamResponse,
} from "../upstream/upstream-client.ts";
import { BUFFERED_BYTES_MAX } from "../upstream/whole-body.ts";

export interface RelayedResponse {
  readonly status: number;
  /** The end-to-end header fields. Each name, in lower case, is followed by its value. */
  readonly fields: readonly string[];
  /** The Content-Length of a 304 or of a response to HEAD, else null. */
  readonly announced: number | null;
  /** The body. A streamed body may still be arriving when the gateway starts its response. */
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null;
}

const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);
const NOT_MODIFIED = 304;

/** Step 7: calls the service and streams the bodies both ways (GW-111). */
export class Forwarder {
  readonly #bodies: BodyRules;
  readonly #client: UpstreamClient;
  readonly #headers: UpstreamHeaders;
  readonly #calls: UpstreamCalls;
  readonly #events: OpenEventStreams;
  readonly #metrics: RouteMetrics;
  streams = 0;

  constructor(
    bodies: BodyRules,
    client: UpstreamClient,
    headers: UpstreamHeaders,
    open: { readonly calls: UpstreamCalls; readonly events: OpenEventStreams },
    metrics: RouteMetrics,
  ) {
    this.#bodies = bodies;
    this.#client = client;
    this.#headers = headers;
    this.#calls = open.calls;
    this.#events = open.events;
    this.#metrics = metrics;
  }

  get calls(): number {
    return this.#calls.open;
  }

  /**
   * Calls the service and resolves with the head of its response. {@link failure} converts the errors of this
   * method and of {@link receive}.
   *
   * @param path path and query to call on the route's service
   */
  send(exchange: Exchange, path: string): Promise<UpstreamResponse> {
    const { request } = exchange;
    // The client may have left during earlier steps. A GET is sent anyway, because a GET changes nothing. The
    // next sweep ends the call.
    if (request.method !== "GET" && request.signal.aborted) throw new ClientGone();
    const call = this.#calls.begin(exchange);
    exchange.call = call;
    const body = openRequestBody(exchange, call, this.#bodies);
    return body instanceof Promise
      ? body.then((opened) => this.#fetch(exchange, call, path, opened))
      : this.#fetch(exchange, call, path, body);
  }

  #fetch(
    exchange: Exchange,
    call: UpstreamCall,
    path: string,
    body: UpstreamRequest["body"],
  ): Promise<UpstreamResponse> {
    const { request, route, trace } = exchange;
    const { service, origin, target, bounds } = route;
    call.span = trace.recorded ? trace.call(request.method, origin + path) : null;
    const fields = this.#headers.of(exchange, call.span?.traceparent ?? trace.traceparent);
    exchange.forwarded = true;
    call.sent = systemClock.elapsedMs();
    call.awaitService(bounds.timeout_ms, "timeout");
    return this.#client.fetch({ service, origin, target, method: request.method, path, fields, body }, call);
  }

  /**
   * Returns the response for the client. Waits until a short body is complete, or until the first chunk of a
   * long body has arrived. Does not wait for the events of an event stream.
   *
   * @param onEnd called when a streamed body ends
   */
  receive(
    exchange: Exchange,
    response: UpstreamResponse,
    onEnd: OnEnd,
  ): RelayedResponse | Promise<RelayedResponse> {
    const { call } = exchange;
    if (call === null) throw new Error("The service has not been called.");
    call.responded = true;
    call.serviceSent();
    const { status, body, length } = response;
    this.#measure(exchange, call, status);
    if (body === null || body instanceof Uint8Array) return whole(exchange, response, body);
    if (BODILESS.has(status)) {
      call.stop("unwanted");
      return whole(exchange, response, null);
    }
    const relay = new ResponseRelay(body, call, exchange.route.bounds.idleTimeoutMs, (failure) => {
      this.streams -= 1;
      this.#events.delete(relay);
      exchange.bytes_out = relay.bytes;
      onEnd(failure);
    });
    if (length !== null && length <= BUFFERED_BYTES_MAX)
      return relay.whole(length).then((bytes) => whole(exchange, response, bytes));
    return this.#streamed(exchange, response, relay);
  }

  async #streamed(
    exchange: Exchange,
    response: UpstreamResponse,
    relay: ResponseRelay,
  ): Promise<RelayedResponse> {
    const { status, fields } = response;
    const isEvents = isEventStream(fields);
    // The gateway writes comments into an event stream, but cannot do so if the stream is encoded.
    if (isEvents && fieldValue(fields, "content-encoding") === null) {
      this.streams += 1;
      const body = relay.eventStream();
      this.#events.add(relay);
      return { status, fields, announced: null, body };
    }
    const first = await relay.next();
    if (first === undefined) return whole(exchange, response, null);
    await relay.lookAhead();
    this.streams += 1;
    const body = relay.stream(first);
    if (isEvents) this.#events.add(relay);
    return { status, fields, announced: null, body };
  }

  /**
   * Returns the error that the client of a failed call gets:
   * - ApiError 401 or 403: the caller was no longer admitted when the request body was complete.
   * - ApiError 408: the request body stopped arriving.
   * - ApiError 413: the request body is over the limit.
   * - ApiError 502: the service cannot be reached, is too slow, or breaks off before the client got a byte.
   * - ClientGone: the client left.
   *
   * Returns an error unchanged if it was thrown before the call.
   */
  failure(exchange: Exchange, thrown: unknown): unknown {
    const { call, forwarded } = exchange;
    if (call === null) return thrown;
    if (!forwarded) {
      call.end();
      return thrown;
    }
    const failure = call.failure(thrown, exchange.route.bounds.max_body_bytes);
    if (!call.responded) {
      this.#measure(exchange, call, null);
      failSpan(call.span, failure);
    }
    return failure;
  }

  #measure({ route, trace }: Exchange, { sent, span }: UpstreamCall, status: number | null): void {
    const trace_id = trace.recorded ? trace.trace_id : null;
    this.#metrics.of(route).calls.observe(status, (systemClock.elapsedMs() - sent) / 1000, trace_id);
    if (status !== null) span?.responded(status);
  }
}

function whole(
  exchange: Exchange,
  { status, fields, length }: UpstreamResponse,
  body: Uint8Array | null,
): RelayedResponse {
  exchange.call?.end();
  exchange.call = null;
  exchange.bytes_out = body?.byteLength ?? 0;
  const announced = exchange.request.method === "HEAD" || status === NOT_MODIFIED ? length : null;
  return { status, fields, announced, body };
}

function isEventStream(fields: readonly string[]): boolean {
  return fieldValue(fields, "content-type")?.toLowerCase().startsWith("text/event-stream") ?? false;
}
