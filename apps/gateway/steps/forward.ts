import type { Exchange } from "../exchange.ts";
import { badGateway, UpstreamCall } from "../upstream/call.ts";
import type { UpstreamHeaders } from "../upstream/headers.ts";
import { type BodyLimits, openRequestBody } from "../upstream/request-body.ts";
import { type OnEnd, ResponseRelay } from "../upstream/response-body.ts";
import { arrivedBody, BUFFERED_BYTES_MAX } from "../upstream/whole-body.ts";

export interface ForwardOptions extends BodyLimits {
  /** Between two chunks of a response. */
  readonly idle_timeout_ms: number;
}

/** What a service answered. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** A stream is still on its way when the response begins. */
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null;
}

/** Responses without a body, whatever their headers say. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Step 7: calls the service and streams both ways (contract 4, Headers, and Bodies and time). */
export class Forwarder {
  readonly #options: ForwardOptions;
  readonly #headers: UpstreamHeaders;

  constructor(options: ForwardOptions, headers: UpstreamHeaders) {
    this.#options = options;
    this.#headers = headers;
  }

  /**
   * @param path path and query to call on the route's service
   * @param onEnd told how a streamed body ended
   * @throws ApiError 408 for a body that does not come, 413 for one over the limit, 502 for a service that can not be reached, does not answer in
   * time or breaks off before the client has anything; ClientGone when the client left
   */
  async forward(exchange: Exchange, path: string, onEnd: OnEnd): Promise<UpstreamAnswer> {
    const { request } = exchange;
    const { timeout_ms, body_bytes_max } = this.#options;
    const call = new UpstreamCall(request.signal);
    const opened = openRequestBody(exchange, call, this.#options);
    const body = opened instanceof Promise ? await opened : opened;
    const headers = this.#headers.of(exchange);
    if (body.content_length !== null) headers.set("content-length", body.content_length);
    exchange.forwarded = true;
    try {
      call.expectWithin(timeout_ms, "timeout");
      const response = await fetch(exchange.route.origin + path, {
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
      call.answered = true;
      call.settle();
      const answer = this.#answer(request.method, response, call, onEnd);
      return answer instanceof Promise ? await answer : answer;
    } catch (cause) {
      throw call.failure(cause, body_bytes_max);
    }
  }

  #answer(
    method: string,
    response: Response,
    call: UpstreamCall,
    onEnd: OnEnd,
  ): UpstreamAnswer | Promise<UpstreamAnswer> {
    const { status, headers } = response;
    if (status < 200 || status > 599) throw badGateway(`The service answered with the status ${status}.`);
    const length = knownLength(headers);
    if (method === "HEAD" || length === 0 || BODILESS.has(status)) {
      return { status, headers, body: null };
    }
    const small = length <= BUFFERED_BYTES_MAX;
    const arrived = small ? arrivedBody(response) : null;
    if (arrived !== null) return { status, headers, body: arrived };
    // not before: to ask for it makes a stream, even where all is there
    const { body } = response;
    if (body === null) return { status, headers, body: null };
    const relay = new ResponseRelay(body, call, this.#options.idle_timeout_ms, onEnd);
    if (small) return relay.whole(length).then((bytes) => ({ status, headers, body: bytes }));
    headers.delete("content-length");
    return this.#streamed(status, headers, relay);
  }

  async #streamed(status: number, headers: Headers, relay: ResponseRelay): Promise<UpstreamAnswer> {
    if (isPlainEventStream(headers)) return { status, headers, body: relay.eventStream() };
    const first = await relay.next();
    if (first === undefined) return { status, headers, body: null };
    await relay.lookAhead();
    return { status, headers, body: relay.stream(first) };
  }
}

/** The announced length of a body, infinite where none is announced. */
function knownLength(headers: Headers): number {
  const length = headers.get("content-length");
  return length === null || headers.has("transfer-encoding") ? Number.POSITIVE_INFINITY : Number(length);
}

/** An event stream into which a comment may be written: one that is not encoded. */
function isPlainEventStream(headers: Headers): boolean {
  const type = headers.get("content-type");
  return (type?.toLowerCase().startsWith("text/event-stream") ?? false) && !headers.has("content-encoding");
}
