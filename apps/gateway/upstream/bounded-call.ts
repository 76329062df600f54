import { errorCode } from "@ostiary/lib/domain/errors";
import type { PeerTls } from "@ostiary/lib/runtime/config";
import type { CallSpan, Tracing } from "@ostiary/lib/runtime/telemetry";
import { sentOnce } from "./request-body.ts";

/**
 * Calls of the gateway's own: to identity, to audit, to the identity provider. Each has a deadline that covers
 * the whole answer, and a bound on its size. Redirects are answers like any other, and never followed.
 */
export interface BoundedCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeout_ms: number;
  /**
   * Carried out twice it does no harm. When its connection broke before an answer came, as one does that was kept
   * for long and is closed by a server that stops, it is made once more, on a connection of its own.
   */
  readonly repeatable?: boolean;
  /** The files of TLS to this peer, where it has some. */
  readonly tls?: PeerTls;
  /** Where the call gets its span, and what it is to send of the trace. */
  readonly tracing?: Pick<Tracing, "call">;
}

export interface BoundedAnswer {
  readonly status: number;
  readonly text: string;
}

/** No whole answer came. Its message names neither address nor content, so that it can be logged. */
export class CallFailed extends Error {
  /** false: the call did not leave this host. true: whether it was carried out is unknown. */
  readonly sent: boolean;
  /** The connection ended before an answer had begun. */
  readonly broken: boolean;

  constructor(reason: string, sent: boolean, broken = false) {
    super(reason);
    this.name = "CallFailed";
    this.sent = sent;
    this.broken = broken;
  }
}

const ANSWER_BYTES_MAX = 512 * 1024;

/** Faults of a connection that never came about. */
const UNSENT: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"]);

/** Makes the call and reads the answer. Rejects with {@link CallFailed}. */
export async function boundedCall(call: BoundedCall): Promise<BoundedAnswer> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), call.timeout_ms);
  const span = call.tracing?.call(call.method, call.url) ?? null;
  const init = {
    method: call.method,
    ...headersAndBody(call, span),
    redirect: "manual",
    signal: controller.signal,
    // the same object until a file changes: connections are kept for each
    tls: call.tls?.current(),
  } satisfies BunFetchRequestInit;
  try {
    const response = await fetch(call.url, init).catch((error) => {
      const { broken } = callFailure(error, call, controller.signal.aborted);
      if (!broken || !call.repeatable) throw error;
      return fetch(call.url, { ...init, keepalive: false });
    });
    const text = await boundedText(response);
    span?.answered(response.status);
    return { status: response.status, text };
  } catch (error) {
    const failure = callFailure(error, call, controller.signal.aborted);
    span?.failed(failure.name, failure.message);
    throw failure;
  } finally {
    clearTimeout(timer);
  }
}

function callFailure(error: unknown, { timeout_ms }: BoundedCall, timedOut: boolean): CallFailed {
  if (error instanceof CallFailed) return error;
  if (timedOut) return new CallFailed(`no answer within ${timeout_ms} ms`, true);
  const code = errorCode(error);
  const sent = code === null || !UNSENT.has(code);
  return new CallFailed(code ?? "the connection broke", sent, sent);
}

/**
 * The runtime repeats a PUT by itself when a kept-alive connection died under it, and then reports how the second
 * sending ended: the first may have been carried out. A body that can be sent once only keeps it from that.
 */
function headersAndBody(call: BoundedCall, span: CallSpan | null): Pick<RequestInit, "headers" | "body"> {
  const { method, body } = call;
  const headers = span === null ? call.headers : { ...call.headers, ...traceHeaders(span) };
  if (method !== "PUT" || body === undefined) return { headers, body };
  const { content, content_length } = sentOnce(new TextEncoder().encode(body));
  return { headers: { ...headers, "content-length": content_length ?? "" }, body: content };
}

async function boundedText(response: Response): Promise<string> {
  const length = response.headers.get("content-length");
  const encoded = response.headers.has("content-encoding");
  if (length !== null && !encoded && Number(length) <= ANSWER_BYTES_MAX) return await response.text();
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > ANSWER_BYTES_MAX) throw new CallFailed(`the answer exceeds ${ANSWER_BYTES_MAX} bytes`, true);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function traceHeaders({ traceparent, tracestate, request_id }: CallSpan): Record<string, string> {
  return {
    traceparent,
    ...(tracestate !== null && { tracestate }),
    ...(request_id !== null && { "x-request-id": request_id }),
  };
}
