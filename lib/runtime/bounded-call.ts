import { type Clock, readBounded, unstalledClock } from "../async/index.ts";
import { systemErrorCode } from "../domain/errors/index.ts";
import type { PeerTls } from "./config/index.ts";
import type { CallSpan, Tracing } from "./telemetry/index.ts";

export interface Abortable {
  abort(): void;
}

export interface CallHandle {
  underway: Abortable | null;
  /** Set to true when the peer may have received a part of the request. */
  reached?: boolean;
}

/**
 * A call to a peer, such as identity or the identity provider. The timeout covers the whole response, whose size is
 * limited. Redirects are returned, not followed.
 */
export interface BoundedCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  /** The clock of the timeout. A stall of this process does not count by default. */
  readonly clock?: Pick<Clock, "after">;
  /**
   * Whether a call whose connection breaks before the response begins is sent once more, over a new connection. A
   * server that stops breaks its kept-alive connections.
   */
  readonly repeatable?: boolean;
  readonly tls?: PeerTls;
  readonly tracing?: Pick<Tracing, "call">;
}

export interface BoundedResponse {
  readonly status: number;
  readonly text: string;
}

export type TransportCall = Pick<BoundedCall, "method" | "url" | "headers" | "body" | "tls">;

export interface BegunResponse {
  readonly status: number;
  /** Reads the body. Rejects if the connection breaks or the body is too large. */
  text(): Promise<string>;
}

export interface CallTransport {
  /** Resolves when the response begins. Sets `handle.underway`. A repeated call must use a new connection. */
  send(call: TransportCall, handle: CallHandle, isRepeat: boolean): Promise<BegunResponse>;
}

/** The message contains no URL and no content, so it is safe to log. */
export class CallFailed extends Error {
  /** Whether the call may have left this host, so that the peer may have processed it. */
  readonly sent: boolean;
  readonly broken: boolean;

  constructor(reason: string, sent: boolean, broken = false) {
    super(reason);
    this.name = "CallFailed";
    this.sent = sent;
    this.broken = broken;
  }
}

export const RESPONSE_BYTES_MAX = 512 * 1024;

const UNSENT: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"]);

/** Makes the call and reads the whole response. Rejects with {@link CallFailed}. */
export async function boundedCall(
  call: BoundedCall,
  transport: CallTransport = fetchTransport,
): Promise<BoundedResponse> {
  let isLate = false;
  const handle: CallHandle = { underway: null };
  const { clock = unstalledClock, timeoutMs } = call;
  const cancelTimer = clock.after(timeoutMs, () => {
    isLate = true;
    handle.underway?.abort();
  });
  const span = call.tracing?.call(call.method, call.url) ?? null;
  const traced = span === null ? call : { ...call, headers: { ...call.headers, ...traceHeaders(span) } };
  try {
    const begun = await transport.send(traced, handle, false).catch((error) => {
      const { broken } = callFailure(error, call, isLate);
      if (!broken || !call.repeatable) throw error;
      return transport.send(traced, handle, true);
    });
    const text = await begun.text();
    span?.responded(begun.status);
    return { status: begun.status, text };
  } catch (error) {
    const failure = callFailure(error, call, isLate);
    span?.failed(failure.name, failure.message);
    throw failure;
  } finally {
    cancelTimer();
  }
}

export function responseTooLarge(): CallFailed {
  return new CallFailed(`the response exceeds ${RESPONSE_BYTES_MAX} bytes`, true);
}

/** Sends calls with the runtime's `fetch`, which uses TLS for https URLs. */
export const fetchTransport: CallTransport = {
  async send(call, handle, isRepeat) {
    const controller = new AbortController();
    handle.underway = controller;
    const response = await fetch(call.url, {
      method: call.method,
      ...headersAndBody(call),
      redirect: "manual",
      signal: controller.signal,
      // the runtime pools connections by this object, which stays the same until a TLS file changes
      tls: call.tls?.current(),
      ...(isRepeat && { keepalive: false }),
    } satisfies BunFetchRequestInit);
    return { status: response.status, text: () => boundedText(response) };
  },
};

function callFailure(error: unknown, { timeoutMs }: BoundedCall, timedOut: boolean): CallFailed {
  if (error instanceof CallFailed) return error;
  if (timedOut) return new CallFailed(`no response within ${timeoutMs} ms`, true);
  const code = systemErrorCode(error);
  const sent = code === null || !UNSENT.has(code);
  return new CallFailed(code ?? "the connection broke", sent, sent);
}

/** The runtime would resend a plain body after a lost connection, although the server may have processed the PUT. */
function headersAndBody({ method, headers, body }: TransportCall): Pick<RequestInit, "headers" | "body"> {
  if (method !== "PUT" || body === undefined) return { headers, body };
  const content = new TextEncoder().encode(body);
  return {
    headers: { ...headers, "content-length": String(content.byteLength) },
    body: sentOnce(content),
  };
}

async function boundedText(response: Response): Promise<string> {
  const length = response.headers.get("content-length");
  const encoded = response.headers.has("content-encoding");
  if (length !== null && !encoded && Number(length) <= RESPONSE_BYTES_MAX) return await response.text();
  return (await readBounded(response.body, RESPONSE_BYTES_MAX, responseTooLarge)).toString();
}

function traceHeaders({ traceparent, tracestate, request_id }: CallSpan): Record<string, string> {
  return {
    traceparent,
    ...(tracestate !== null && { tracestate }),
    ...(request_id !== null && { "x-request-id": request_id }),
  };
}

/**
 * The runtime never resends a stream, so a call with side effects is not retried. With other types than `direct`, the
 * runtime considers the request unfinished when the response arrives, and closes the connection.
 */
export function sentOnce(body: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    type: "direct",
    // write here, not in `start`: the runtime turns a stream that `start` closes back into a plain body
    pull(controller) {
      if (body.byteLength > 0) controller.write(body);
      controller.end();
    },
  });
}
