import type { ReadableStreamDefaultReader } from "node:stream/web";
import { withDeadline } from "@ostiary/lib/async";
import { ApiError, bodyTooLarge } from "@ostiary/lib/domain/errors";
import type { Exchange } from "../exchange.ts";
import { bodyTimeout, ClientGone, type UpstreamCall } from "./call.ts";
import { arrivedBody, BUFFERED_BYTES_MAX, nextTurn, wholeBody } from "./whole-body.ts";

export interface RequestBody {
  readonly content: Uint8Array | ReadableStream<Uint8Array> | null;
  /** Of a streamed body whose length is known. */
  readonly content_length: string | null;
}

export interface BodyLimits {
  /** Largest body; 0 is no limit. */
  readonly body_bytes_max: number;
  /** What the service gets to begin its response, from the last byte that it was sent. */
  readonly timeout_ms: number;
  /** Between two chunks of the body. */
  readonly body_timeout_ms: number;
}

const NO_BODY: RequestBody = { content: null, content_length: null };

/**
 * The body as it is sent on (contract 4, Bodies and time): a small one read whole, a larger one streamed and
 * counted. The runtime drops bodies of GET and HEAD.
 *
 * @throws ApiError 413 for a declared length above the limit, 408 for a small body that does not come; ClientGone
 */
export function openRequestBody(
  exchange: Exchange,
  call: UpstreamCall,
  limits: BodyLimits,
): RequestBody | Promise<RequestBody> {
  const { request } = exchange;
  const { body_bytes_max } = limits;
  if (request.method === "GET" || request.method === "HEAD") return NO_BODY;
  const content_length = request.headers.get("content-length");
  const chunked = content_length === null && request.headers.has("transfer-encoding");
  const length = chunked ? Number.POSITIVE_INFINITY : Number(content_length ?? 0);
  if (length === 0) return REPEATED.has(request.method) ? sentOnce(NOTHING) : NO_BODY;
  if (content_length !== null && body_bytes_max > 0 && length > body_bytes_max)
    throw bodyTooLarge(body_bytes_max);
  if (length <= BUFFERED_BYTES_MAX) return readWhole(exchange, length, limits);
  if (request.body === null) return NO_BODY;
  return { content: counted(request.body, exchange, call, limits), content_length };
}

async function readWhole(exchange: Exchange, length: number, limits: BodyLimits): Promise<RequestBody> {
  const { request } = exchange;
  try {
    // one that came with its head is there then, and need not be read chunk by chunk
    await nextTurn();
    const content = arrivedBody(request) ?? (await readPieces(request, length, limits));
    exchange.body_complete = true;
    return REPEATED.has(request.method) ? sentOnce(content) : { content, content_length: null };
  } catch (cause) {
    if (request.signal.aborted) throw new ClientGone();
    if (cause instanceof ApiError) throw cause;
    throw new ApiError("INVALID_REQUEST", { message: "The request body could not be read.", cause });
  }
}

async function readPieces({ body }: Request, length: number, limits: BodyLimits): Promise<Uint8Array> {
  const reader = body?.getReader();
  const next = (from: ReadableStreamDefaultReader<Uint8Array>) =>
    withDeadline(from.read(), limits.body_timeout_ms, bodyTimeout).then(({ value }) => value);
  const bytes = reader && (await wholeBody(length, () => next(reader)));
  if (!bytes) throw new Error("The body is shorter or longer than announced.");
  return bytes;
}

/** What the runtime would send again by itself after a kept-alive connection turned out dead. */
const REPEATED: ReadonlySet<string> = new Set(["PUT", "DELETE"]);
const NOTHING = new Uint8Array();

/**
 * The same body in a form that can be sent once only: nothing is retried that may change anything. A direct stream
 * has ended when the service answers; under another one the runtime finds its own part unfinished then, and closes
 * the connection.
 */
export function sentOnce(body: Uint8Array): RequestBody {
  const content = new ReadableStream<Uint8Array>({
    type: "direct",
    // not at the start: of a stream that is closed by then the runtime makes a plain body again
    pull(controller) {
      if (body.byteLength > 0) controller.write(body);
      controller.end();
    },
  });
  return { content, content_length: String(body.byteLength) };
}

/** Passes chunks on as the service takes them; stops the call once there are more bytes than allowed. */
function counted(
  body: ReadableStream<Uint8Array>,
  exchange: Exchange,
  call: UpstreamCall,
  limits: BodyLimits,
): ReadableStream<Uint8Array> {
  const { body_bytes_max: bytes_max, timeout_ms, body_timeout_ms } = limits;
  const reader = body.getReader();
  call.watchClient();
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // a client that is slow to send costs its service none of its time
        if (!call.answered) call.serviceCame();
        call.awaitClient(body_timeout_ms);
        const { value: chunk } = await reader.read();
        call.clientCame();
        if (call.stopped) return;
        if (!call.answered) call.awaitService(timeout_ms, "timeout");
        if (chunk === undefined) {
          exchange.body_complete = true;
          return controller.close();
        }
        bytes += chunk.byteLength;
        if (bytes_max > 0 && bytes > bytes_max) {
          call.stop("too_large");
          return controller.error(bodyTooLarge(bytes_max));
        }
        controller.enqueue(chunk);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
