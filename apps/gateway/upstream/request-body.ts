import type { ReadableStreamDefaultReader } from "node:stream/web";
import { unstalledClock, withDeadline } from "@ostiary/lib/async";
import { ApiError, bodyTooLarge } from "@ostiary/lib/domain/errors";
import type { CallBounds } from "@ostiary/lib/domain/routes";
import type { Exchange } from "../exchange.ts";
import type { Readmit } from "../steps/readmit.ts";
import { bodyTimeout, ClientGone, type UpstreamCall } from "./call.ts";
import type { ByteSource, UpstreamRequest } from "./upstream-client.ts";
import { arrivedBody, BUFFERED_BYTES_MAX, nextIteration, wholeBody } from "./whole-body.ts";

/** How a request body must arrive. */
export interface BodyRules {
  /** The maximum time between two chunks. */
  readonly bodyTimeoutMs: number;
  readonly readmit: Readmit;
}

/**
 * Returns the body to send to the service (GW-111). Reads a small body of known length completely, and
 * streams any other body. Drops the bodies of GET and HEAD.
 *
 * @throws ApiError 413 for a declared length above the limit
 * @throws ApiError 408 for a small body that stops arriving, 400 for a small body that cannot be read, 401 or 403 for a
 * small body whose caller was revoked while it arrived
 * @throws ClientGone if the client leaves while the gateway reads a small body
 */
export function openRequestBody(
  exchange: Exchange,
  call: UpstreamCall,
  rules: BodyRules,
): UpstreamRequest["body"] | Promise<Uint8Array> {
  const { request, route } = exchange;
  const { max_body_bytes } = route.bounds;
  if (request.method === "GET" || request.method === "HEAD") return null;
  const contentLength = request.headers.get("content-length");
  const length = contentLength === null ? null : Number(contentLength);
  if (length === 0) return null;
  if (length !== null && max_body_bytes > 0 && length > max_body_bytes) throw bodyTooLarge(max_body_bytes);
  if (length !== null && length <= BUFFERED_BYTES_MAX) return readWhole(exchange, length, rules);
  if (request.body === null) return null;
  exchange.bodyComplete = false;
  call.watchClient();
  return { source: new CountedBody(request.body.getReader(), length, exchange, call, rules), length };
}

async function readWhole(
  exchange: Exchange,
  length: number,
  { bodyTimeoutMs, readmit }: BodyRules,
): Promise<Uint8Array> {
  const { request } = exchange;
  try {
    // In the next event-loop iteration, a body that arrived with its head can be read in one piece.
    await nextIteration();
    const content = arrivedBody(request) ?? (await readPieces(request, length, bodyTimeoutMs));
    if (content.byteLength !== length) throw wrongLength();
    exchange.bodyComplete = true;
    exchange.bytes_in = length;
    const readmitted = readmit(exchange);
    if (readmitted !== null) await readmitted;
    return content;
  } catch (cause) {
    if (request.signal.aborted) throw new ClientGone();
    if (cause instanceof ApiError) throw cause;
    throw new ApiError("INVALID_REQUEST", { message: "The request body could not be read.", cause });
  }
}

async function readPieces({ body }: Request, length: number, bodyTimeoutMs: number): Promise<Uint8Array> {
  const reader = body?.getReader();
  const next = (from: ReadableStreamDefaultReader<Uint8Array>) =>
    withDeadline(from.read(), bodyTimeoutMs, bodyTimeout, unstalledClock).then(({ value }) => value);
  const bytes = reader && (await wholeBody(length, () => next(reader)));
  if (!bytes) throw wrongLength();
  return bytes;
}

function wrongLength(): ApiError {
  const cause = new Error("The body is shorter than its Content-Length.");
  return new ApiError("INVALID_REQUEST", { message: "The request body could not be read.", cause });
}

/** A request body that is sent at the pace of the service. If the body exceeds the limit, the call is stopped. */
class CountedBody implements ByteSource {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #length: number | null;
  readonly #exchange: Exchange;
  readonly #call: UpstreamCall;
  readonly #bounds: CallBounds;
  readonly #rules: BodyRules;
  #bytes = 0;
  #canceled = false;

  constructor(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    length: number | null,
    exchange: Exchange,
    call: UpstreamCall,
    rules: BodyRules,
  ) {
    this.#reader = reader;
    this.#length = length;
    this.#exchange = exchange;
    this.#call = call;
    this.#bounds = exchange.route.bounds;
    this.#rules = rules;
  }

  async next(): Promise<Uint8Array | undefined> {
    const { max_body_bytes } = this.#bounds;
    const chunk = await this.#read();
    if (chunk === undefined) {
      if (this.#length === null) {
        await this.#requireSound();
        await this.#readmit();
      }
      this.#exchange.bodyComplete = !this.#canceled;
      return undefined;
    }
    this.#bytes += chunk.byteLength;
    this.#exchange.bytes_in = this.#bytes;
    if (max_body_bytes > 0 && this.#bytes > max_body_bytes) {
      this.#call.stop("too_large");
      throw bodyTooLarge(max_body_bytes);
    }
    if (this.#bytes === this.#length) await this.#readmit();
    return chunk;
  }

  /** Checks the caller again before the service gets the end of the body. */
  async #readmit(): Promise<void> {
    try {
      await this.#rules.readmit(this.#exchange);
    } catch (error) {
      if (error instanceof ApiError) this.#call.stop(error);
      throw error;
    }
  }

  /**
   * Waits one event-loop iteration after a chunked body, and rejects if the client has left. The runtime ends
   * the body before it reads trailers, and disconnects a client that sends trailers.
   */
  async #requireSound(): Promise<void> {
    await nextIteration();
    if (this.#exchange.request.signal.aborted) throw new ClientGone();
  }

  async #read(): Promise<Uint8Array | undefined> {
    const call = this.#call;
    // Stop the service's timer, which must not run while the client is slow.
    if (!call.responded) call.serviceSent();
    call.awaitClient(this.#rules.bodyTimeoutMs);
    const { value: chunk } = await this.#reader.read();
    call.clientSent();
    if (!call.responded && !call.stopped) call.awaitService(this.#bounds.timeout_ms, "timeout");
    return chunk;
  }

  cancel(): void {
    this.#canceled = true;
    this.#reader.cancel().catch(() => {});
  }
}
