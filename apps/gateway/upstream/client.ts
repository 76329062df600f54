import type { CallHandle } from "@ostiary/lib/runtime/calls";

export type { Abortable, CallHandle } from "@ostiary/lib/runtime/calls";

/** Bytes that arrive over time. The consumer asks for each chunk, so a slow consumer slows the producer down. */
export interface ByteSource {
  /** Returns the next chunk, or undefined at the end. Rejects when the source breaks off. One call at a time. */
  next(): Promise<Uint8Array | undefined>;
  /** Gives up the rest. A pending `next` may then stay unanswered. */
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
  /** Names and values in turn. Without Host, Connection and the framing of the body, which the client adds. */
  readonly fields: readonly string[];
  /** null: no body. Bytes are sent with their length. */
  readonly body: Uint8Array | StreamedBody | null;
}

/** A request body that is sent as it arrives. */
export interface StreamedBody {
  readonly source: ByteSource;
  /** The announced length, or null if it is unknown. A body of unknown length is sent chunked. */
  readonly length: number | null;
}

/** The response of a service, from the moment its head is there. */
export interface UpstreamResponse {
  readonly status: number;
  /** Names in lower case and values in turn, as received; a name may occur more than once. */
  readonly fields: readonly string[];
  /** The announced length of the body, or null if the service announced none. */
  readonly length: number | null;
  /** null: no body. Bytes: the whole body has arrived. */
  readonly body: Uint8Array | ByteSource | null;
}

/** Calls services. Redirects are not followed and content is not decoded. */
export interface UpstreamClient {
  /**
   * Sends a request and resolves with the head of the response. Rejects when no response begins. A GET, HEAD or
   * OPTIONS whose reused connection died before the first byte of a response is sent once more, over a new
   * connection.
   */
  fetch(request: UpstreamRequest, handle: CallHandle): Promise<UpstreamResponse>;
  /** Closes the connections that no request uses. */
  closeIdle(): void;
}

/** Methods that are sent again when a reused connection died under them. */
export const RETRIED_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Returns the value of a field, its occurrences joined as RFC 9110 5.3 joins them, or null when there is
 * none.
 */
export function fieldValue(fields: readonly string[], name: string): string | null {
  let value: string | null = null;
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] !== name) continue;
    value = value === null ? (fields[index + 1] ?? "") : `${value}, ${fields[index + 1]}`;
  }
  return value;
}
