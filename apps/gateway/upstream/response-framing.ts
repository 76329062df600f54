import { CONNECTION, CONTENT_LENGTH, KEEP_ALIVE, TRANSFER_ENCODING } from "./field-names.ts";
import { MalformedResponse } from "./http-bytes.ts";

const NO_CONTENT = 204;
const NOT_MODIFIED = 304;
const DIGITS = /^[0-9]+$/;
/** A token with spaces and tabs around it. */
const TOKEN = /^[ \t]*([!#$%&'*+.^_`|~0-9a-z-]+)[ \t]*$/;
const KEEP_ALIVE_TIMEOUT = /(?:^|,)[ \t]*timeout[ \t]*=[ \t]*"?([0-9]{1,9})"?[ \t]*(?:,|$)/i;

/** The way to find the end of a body (RFC 9112, section 6.3). A `close` body ends with its connection. */
export type Framing = "none" | "length" | "chunked" | "close";

/** Collects the fields of one head that frame the body and decide whether the connection persists. */
export class FramingFields {
  contentLength: number | null = null;
  chunked = false;
  keepAliveTimeoutMs: number | null = null;
  #lengthText: string | null = null;
  #close = false;
  #keepAlive = false;
  /** The lower-case names in Connection, except "close" and "keep-alive". */
  readonly #connectionNames = new Set<string>();

  reset(): void {
    this.contentLength = null;
    this.chunked = false;
    this.keepAliveTimeoutMs = null;
    this.#connectionNames.clear();
    this.#lengthText = null;
    this.#close = false;
    this.#keepAlive = false;
  }

  /** Returns whether the service keeps the connection open after the response (RFC 9112, section 9.3). */
  persists(minorVersion: number): boolean {
    return !this.#close && (minorVersion === 1 || this.#keepAlive);
  }

  add(meaning: number, value: string): void {
    switch (meaning) {
      case CONTENT_LENGTH:
        this.#addLength(value);
        break;
      case TRANSFER_ENCODING:
        this.#addCoding(value);
        break;
      case CONNECTION:
        this.#addConnection(value);
        break;
      case KEEP_ALIVE:
        this.keepAliveTimeoutMs = keepAliveTimeoutMs(value) ?? this.keepAliveTimeoutMs;
    }
  }

  of(status: number, toHead: boolean): Framing {
    if (toHead || status === NO_CONTENT || status === NOT_MODIFIED) return "none";
    if (this.chunked) return "chunked";
    return this.contentLength === null ? "close" : "length";
  }

  endToEnd(fields: readonly string[]): readonly string[] {
    if (this.#connectionNames.size === 0) return fields;
    return fields.filter((_, index) => !this.#connectionNames.has(fields[index - (index % 2)] ?? ""));
  }

  /**
   * Returns whether a service may send a body after this response, which has none. These bytes could arrive
   * when the connection carries the next request.
   */
  announcesBody(status: number): boolean {
    if (this.chunked) return true;
    switch (status) {
      case NO_CONTENT:
        return this.contentLength !== null;
      case NOT_MODIFIED:
        return this.contentLength !== null && this.contentLength > 0;
      default: // a response to HEAD: without a length, the body after a GET would end with the connection
        return this.contentLength !== 0;
    }
  }

  /** Throws if the fields of a head contradict each other, or its status. */
  check(status: number, minorVersion: number): void {
    if (status === NO_CONTENT || status < 200) this.#checkBodiless();
    if (!this.chunked) return;
    if (this.contentLength !== null) {
      throw new MalformedResponse("The response has both Content-Length and Transfer-Encoding.");
    }
    if (minorVersion === 0) throw new MalformedResponse("An HTTP/1.0 response has Transfer-Encoding.");
  }

  #checkBodiless(): void {
    if (this.chunked) throw new MalformedResponse("A 1xx or 204 response has Transfer-Encoding.");
    if (this.contentLength !== null && this.contentLength > 0) {
      throw new MalformedResponse("A 1xx or 204 response has a Content-Length above 0.");
    }
  }

  #addLength(value: string): void {
    if (this.#lengthText !== null) {
      if (this.#lengthText === value) return;
      throw new MalformedResponse("The response has several different Content-Length values.");
    }
    const length = DIGITS.test(value) ? Number(value) : Number.NaN;
    if (!Number.isSafeInteger(length)) throw new MalformedResponse("Content-Length is not a valid length.");
    this.#lengthText = value;
    this.contentLength = length;
  }

  #addCoding(value: string): void {
    if (this.chunked || value.toLowerCase() !== "chunked") {
      throw new MalformedResponse('Transfer-Encoding is not exactly one "chunked".');
    }
    this.chunked = true;
  }

  #addConnection(value: string): void {
    if (value === "keep-alive") {
      this.#keepAlive = true; // by far the most frequent value
      return;
    }
    for (const part of value.toLowerCase().split(",")) {
      const name = TOKEN.exec(part)?.[1];
      if (name === "close") this.#close = true;
      else if (name === "keep-alive") this.#keepAlive = true;
      else if (name !== undefined) this.#connectionNames.add(name);
    }
  }
}

function keepAliveTimeoutMs(value: string): number | null {
  const seconds = KEEP_ALIVE_TIMEOUT.exec(value)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1_000;
}
