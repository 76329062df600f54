import type { CallHandle } from "@ostiary/lib/runtime/calls";

export type { Abortable, CallHandle } from "@ostiary/lib/runtime/calls";

/** Bytes that arrive over time. The consumer asks for each chunk, so a slow consumer slows the producer down. */
export interface ByteSource {
  /**
   * Returns the next chunk, or undefined at the end. Rejects if the source breaks off. Only one call may be
   * pending.
   */
  next(): Promise<Uint8Array | undefined>;
  /** Gives up the rest. A pending `next` may then never settle. */
  cancel(): void;
}

/** A request to a service. */
export interface UpstreamRequest {
  /** The name under which metrics count the connection. */
  readonly service: string;
  /** Scheme, host and port, as in `http://widgets:8080`. */
  readonly origin: string;
  /** Host and port, as the Host header carries them. */
  readonly target: string;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Alternating names and values. The client adds Host, Connection and the framing of the body. */
  readonly fields: readonly string[];
  /** The body, or null for none. Bytes are sent with their length. */
  readonly body: Uint8Array | StreamedBody | null;
}

/** A request body that is sent as it arrives. */
export interface StreamedBody {
  readonly source: ByteSource;
  /** The announced length, or null if it is unknown. A body of unknown length is sent chunked. */
  readonly length: number | null;
}

/** The response of a service, available once its head has arrived. */
export interface UpstreamResponse {
  readonly status: number;
  /** Alternating names, in lower case, and values, as received. A name may occur more than once. */
  readonly fields: readonly string[];
  /** The announced length of the body, or null if the service announced none. */
  readonly length: number | null;
  /** The body, or null for none. Bytes if the whole body has arrived, else a source. */
  readonly body: Uint8Array | ByteSource | null;
}

/** Calls services. Redirects are not followed and content is not decoded. */
export interface UpstreamClient {
  /**
   * Sends a request and resolves with the head of the response. Rejects when no response begins. If a reused
   * connection dies before the first byte, sends a GET, HEAD or OPTIONS once more, over a new connection.
   */
  fetch(request: UpstreamRequest, handle: CallHandle): Promise<UpstreamResponse>;
  /** Closes the idle connections. */
  closeIdle(): void;
}

/** Methods whose requests are sent again if a reused connection dies. */
export const RETRIED_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Returns the value of a field, or null if the field is missing. Joins repeated occurrences by commas (RFC
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
