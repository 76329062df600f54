import type { CallHandle } from "@ostiary/lib/runtime/bounded-call";

export type { Abortable, CallHandle } from "@ostiary/lib/runtime/bounded-call";

/** Bytes that arrive over time. A slow consumer slows the producer down. */
export interface ByteSource {
  /**
   * Returns the next chunk, or undefined at the end. Rejects if the source breaks off. Only one call may be
   * pending.
   */
  next(): Promise<Uint8Array | undefined>;
  /** Discards the remaining bytes. A pending {@link next} may never settle. */
  cancel(): void;
}

export interface UpstreamRequest {
  /** The name under which metrics count the connection. */
  readonly service: string;
  readonly origin: string;
  /** Host and port: the value of the Host header. */
  readonly target: string;
  readonly method: string;
  readonly path: string;
  /**
   * The header fields: each name is followed by its value. Host and the framing are not included, and Connection
   * names only TE.
   */
  readonly fields: readonly string[];
  /** The body, or null if there is none. Bytes are sent with a Content-Length. */
  readonly body: Uint8Array | StreamedBody | null;
}

export interface StreamedBody {
  readonly source: ByteSource;
  /** The announced length, or null if it is unknown. A body of unknown length is sent chunked. */
  readonly length: number | null;
}

export interface UpstreamResponse {
  readonly status: number;
  /** The header fields as received: each name, in lower case, is followed by its value. Names can repeat. */
  readonly fields: readonly string[];
  readonly length: number | null;
  /** Bytes if the body has arrived completely, a source if it is still arriving. */
  readonly body: Uint8Array | ByteSource | null;
}

/** Calls services. Redirects are not followed and content is not decoded. */
export interface UpstreamClient {
  /**
   * Sends a request and resolves with the head of the response. Rejects if no response begins. If a reused
   * connection is lost before the first byte, retries a GET or HEAD once over a new connection.
   */
  fetch(request: UpstreamRequest, handle: CallHandle): Promise<UpstreamResponse>;
  closeIdle(): void;
}

/**
 * Returns the value of a field, or null if the field is missing. Joins repeated occurrences with commas (RFC
 * 9110, section 5.3).
 */
export function fieldValue(fields: readonly string[], name: string): string | null {
  let value: string | null = null;
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] !== name) continue;
    value = value === null ? (fields[index + 1] ?? "") : `${value}, ${fields[index + 1]}`;
  }
  return value;
}
