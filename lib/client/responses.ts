import { errorIn, OstiaryError } from "./client-errors.ts";

/** The maximum size of the body of an error. */
const ERROR_BYTES_MAX = 65_536;
/** The longest Retry-After that is believed, in digits: about 31 years. */
const RETRY_AFTER = /^\d{1,9}$/;

/** Parses a Retry-After in seconds, the only form that the platform sends. Returns null for other values. */
export function retryAfterOf({ headers }: Response): number | null {
  const value = headers.get("Retry-After");
  return value !== null && RETRY_AFTER.test(value) ? Number(value) : null;
}

/** Returns the error for a response that is not a success. Reads its body, up to a limit. */
export async function errorOf(response: Response, signal: AbortSignal): Promise<OstiaryError> {
  const status = response.status === 0 ? null : response.status;
  const known = { status, retry_after_seconds: retryAfterOf(response) };
  const body = await readText(response, ERROR_BYTES_MAX, signal).catch(() => "");
  const error = errorIn(jsonIn(body));
  if (error !== null) return new OstiaryError({ ...error, ...known });
  return new OstiaryError({
    ...known,
    code: "UNEXPECTED_RESPONSE",
    message: unexpected(response),
    request_id: response.headers.get("X-Request-ID"),
  });
}

function unexpected({ status, type }: Response): string {
  if (type === "opaqueredirect" || (status >= 300 && status < 400))
    return "The server responded with a redirect, which is not followed. Check the base URL.";
  return `The server responded with status ${status} and without an error of the API. Check the base URL, and the proxies before it.`;
}

/**
 * Returns whether a 401 looks like a response of the gateway itself. Reads a clone, so that the body stays readable.
 */
export async function isRefusal(response: Response, signal: AbortSignal): Promise<boolean> {
  if (response.status !== 401) return false;
  const text = await readText(response.clone(), ERROR_BYTES_MAX, signal).catch(() => "");
  const error = errorIn(jsonIn(text));
  return error?.code === "UNAUTHORIZED" && error.request_id === response.headers.get("X-Request-ID");
}

/** Parses JSON. Returns undefined for other text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The parts of a response that reading its body needs. */
type Readable = Pick<Response, "body" | "status"> & { readonly headers: Pick<Headers, "get"> };

/**
 * Reads a body as text.
 * @throws OstiaryError if the body has more than `bytesMax` bytes
 */
export async function readText(response: Readable, bytesMax: number, signal: AbortSignal): Promise<string> {
  return (await readBlob(response, bytesMax, signal)).text();
}

/**
 * Reads a body until the signal is aborted.
 * @throws OstiaryError if the body has more than `bytesMax` bytes
 */
export async function readBlob(
  { body, status, headers }: Readable,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  signal.throwIfAborted();
  const reader = body?.getReader();
  // Do not wait: the body of a cloned response is canceled only when the other clone is read or canceled.
  const cancel = () => void reader?.cancel().catch(() => {});
  signal.addEventListener("abort", cancel);
  try {
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      length += value.length;
      if (length > bytesMax) {
        const message = `The response has more than ${bytesMax} bytes. Read it with parseAs: "stream".`;
        throw new OstiaryError({ code: "UNEXPECTED_RESPONSE", message, status });
      }
      pieces.push(value);
    }
  } catch (error) {
    cancel();
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
  return new Blob(pieces, { type: headers.get("Content-Type") ?? "" });
}
