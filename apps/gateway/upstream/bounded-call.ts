import { errorCode } from "@ostiary/lib/domain/errors";
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
}

export interface BoundedAnswer {
  readonly status: number;
  readonly text: string;
}

/** No whole answer came. Its message names neither address nor content, so that it can be logged. */
export class CallFailed extends Error {
  /** false: the call did not leave this host. true: whether it was carried out is unknown. */
  readonly sent: boolean;

  constructor(reason: string, sent: boolean) {
    super(reason);
    this.name = "CallFailed";
    this.sent = sent;
  }
}

const ANSWER_BYTES_MAX = 512 * 1024;

/** Faults of a connection that never came about. */
const UNSENT: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"]);

/** Makes the call and reads the answer. Rejects with {@link CallFailed}. */
export async function boundedCall(call: BoundedCall): Promise<BoundedAnswer> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), call.timeout_ms);
  try {
    const response = await fetch(call.url, {
      method: call.method,
      ...headersAndBody(call),
      redirect: "manual",
      signal: controller.signal,
    });
    return { status: response.status, text: await boundedText(response) };
  } catch (error) {
    if (error instanceof CallFailed) throw error;
    if (controller.signal.aborted) throw new CallFailed(`no answer within ${call.timeout_ms} ms`, true);
    const code = errorCode(error);
    throw new CallFailed(code ?? "the connection broke", code === null || !UNSENT.has(code));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The runtime repeats a PUT by itself when a kept-alive connection died under it, and then reports how the second
 * sending ended: the first may have been carried out. A body that can be sent once only keeps it from that.
 */
function headersAndBody({ method, headers, body }: BoundedCall): Pick<RequestInit, "headers" | "body"> {
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
