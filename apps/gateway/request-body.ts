import { ApiError } from "@ostiary/lib/errors";
import { ClientGone, tooLarge, type UpstreamCall } from "./upstream-call.ts";
import { BUFFERED_BYTES_MAX } from "./whole-body.ts";

export interface RequestBody {
  readonly content: ArrayBuffer | ReadableStream<Uint8Array> | null;
  /** Of a streamed body whose length is known. */
  readonly content_length: string | null;
}

export interface BodyLimits {
  /** Largest body; 0 is no limit. */
  readonly body_bytes_max: number;
  /** What the service gets to begin its response, from the last byte that it was sent. */
  readonly timeout_ms: number;
}

const NO_BODY: RequestBody = { content: null, content_length: null };

/**
 * The body as it is sent on (contract 4, Bodies and time): a small one read whole, a larger one streamed and
 * counted. The runtime drops bodies of GET and HEAD.
 *
 * @throws ApiError 413 for a declared length above the limit
 */
export function openRequestBody(
  request: Request,
  call: UpstreamCall,
  limits: BodyLimits,
): RequestBody | Promise<RequestBody> {
  const { body_bytes_max } = limits;
  if (request.method === "GET" || request.method === "HEAD") return NO_BODY;
  const content_length = request.headers.get("content-length");
  const chunked = content_length === null && request.headers.has("transfer-encoding");
  const length = chunked ? Number.POSITIVE_INFINITY : Number(content_length ?? 0);
  if (length === 0) return REPEATED.has(request.method) ? once(NOTHING) : NO_BODY;
  if (content_length !== null && body_bytes_max > 0 && length > body_bytes_max)
    throw tooLarge(body_bytes_max);
  if (length <= BUFFERED_BYTES_MAX) return readWhole(request);
  if (request.body === null) return NO_BODY;
  return { content: counted(request.body, call, limits), content_length };
}

async function readWhole(request: Request): Promise<RequestBody> {
  try {
    const content = await request.arrayBuffer();
    return REPEATED.has(request.method) ? once(content) : { content, content_length: null };
  } catch (cause) {
    if (request.signal.aborted) throw new ClientGone();
    throw new ApiError("INVALID_REQUEST", { message: "The request body could not be read.", cause });
  }
}

/** What the runtime would send again by itself after a kept-alive connection turned out dead. */
const REPEATED: ReadonlySet<string> = new Set(["PUT", "DELETE"]);
const NOTHING = new ArrayBuffer(0);

/** The same body in a form that can be sent once only: nothing is retried that may change anything. */
export function once(body: ArrayBuffer): RequestBody {
  const content = new ReadableStream<Uint8Array>({
    // not at the start: of a stream that is closed by then the runtime makes a plain body again
    pull(controller) {
      if (body.byteLength > 0) controller.enqueue(new Uint8Array(body));
      controller.close();
    },
  });
  return { content, content_length: String(body.byteLength) };
}

/** Passes chunks on as the service takes them; stops the call once there are more bytes than allowed. */
function counted(
  body: ReadableStream<Uint8Array>,
  call: UpstreamCall,
  { body_bytes_max: bytes_max, timeout_ms }: BodyLimits,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // a client that is slow to send costs its service none of its time
        if (!call.answered) call.settle();
        const { done, value } = await reader.read();
        if (!call.answered) call.expectWithin(timeout_ms, "timeout");
        if (done) return controller.close();
        bytes += value.byteLength;
        if (bytes_max > 0 && bytes > bytes_max) {
          call.stop("too_large");
          return controller.error(tooLarge(bytes_max));
        }
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
