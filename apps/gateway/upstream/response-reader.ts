import { ChunkedBody } from "./chunked-body.ts";
import { type FieldNames, ORDINARY } from "./field-names.ts";
import { MalformedResponse } from "./http-bytes.ts";
import { type Framing, FramingFields } from "./response-framing.ts";
import { FIELDS_MAX, HEAD_BYTES_MAX, HeadScanner } from "./response-head.ts";

export interface ResponseHead {
  readonly status: number;
  /**
   * The end-to-end fields that {@link FieldNames} keeps: each name is followed by its value. Names are in
   * lower case, values are Latin-1. Content-Length is never in the list.
   */
  readonly fields: readonly string[];
  /**
   * The value of Content-Length, or null without that field. A response to HEAD or a 304 can have a length,
   * but never has a body. A 204 has no length.
   */
  readonly contentLength: number | null;
  /** The time for which the service keeps the idle connection, or null if the service announces no time. */
  readonly keepAliveTimeoutMs: number | null;
}

/**
 * The callbacks for a response while it is read. For a response in a single chunk, all callbacks run within
 * one {@link ResponseReader.take}.
 */
export interface ResponseSink {
  onHead(head: ResponseHead): void;
  /** Called at most once in a {@link ResponseReader.take}. `bytes` is a view of the chunk. */
  onBody(bytes: Uint8Array): void;
  /** @param reusable whether the connection can carry another request */
  onEnd(reusable: boolean): void;
}

const IDLE = 0;
const HEAD = 1;
const LENGTH = 2;
const CHUNKED = 3;
const CLOSE = 4;
const BROKEN = 5;
const PHASES: Record<Framing, number> = { none: IDLE, length: LENGTH, chunked: CHUNKED, close: CLOSE };

const INCOMPLETE = -1;
const SWITCHING_PROTOCOLS = 101;
const NO_CONTENT = 204;
const NOTHING = Buffer.alloc(0);

/**
 * Reads the responses of one connection (RFC 9112), one for each {@link expect}. For an ambiguous response,
 * the reader throws {@link MalformedResponse}, and the connection must be closed.
 *
 * The reader owns each chunk passed to {@link take}: bodies are views of the chunk, and the data of a chunked
 * body is moved within the chunk.
 */
export class ResponseReader {
  readonly #sink: ResponseSink;
  readonly #scanner: HeadScanner;
  readonly #framing = new FramingFields();
  readonly #chunked = new ChunkedBody();
  #phase = IDLE;
  begun = false;
  #toHead = false;
  /** An incomplete head, and the number of its bytes that have arrived. */
  #held = NOTHING;
  #heldBytes = 0;
  /** The maximum number of further bytes and fields in the heads of this response. */
  #headBytesLeft = HEAD_BYTES_MAX;
  #fieldsLeft = FIELDS_MAX;
  #fields: readonly string[] = [];
  #bodyBytesLeft = 0;
  #keepAlive = false;
  /** Whether an interim head of this response has a Content-Length. */
  #hasInterimLength = false;

  constructor(names: FieldNames, sink: ResponseSink) {
    this.#scanner = new HeadScanner(names);
    this.#sink = sink;
  }

  /** Prepares for the response to a request with `method`. The previous response must have ended. */
  expect(method: string): void {
    this.#toHead = method === "HEAD";
    this.begun = false;
    this.#hasInterimLength = false;
    this.#headBytesLeft = HEAD_BYTES_MAX;
    this.#fieldsLeft = FIELDS_MAX;
    this.#expectHead();
  }

  /** Reads the next bytes. After a call that throws {@link MalformedResponse}, all later calls throw too. */
  take(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.begun = true;
    try {
      this.#takeIn(chunk);
    } catch (error) {
      this.#phase = BROKEN;
      throw error;
    }
  }

  /**
   * Ends the response after the service has closed its side of the connection with a FIN. Must not be called
   * after a reset.
   *
   * @throws MalformedResponse if the response is incomplete
   */
  end(): void {
    if (this.#phase === CLOSE) this.#finish(false);
    else if (this.#phase !== IDLE) throw new MalformedResponse("The connection ended within the response.");
  }

  #takeIn(chunk: Buffer): void {
    switch (this.#phase) {
      case HEAD:
        this.#takeHeads(chunk);
        break;
      case LENGTH:
        this.#takeLength(chunk, 0);
        break;
      case CHUNKED:
        this.#takeChunks(chunk, 0);
        break;
      case CLOSE:
        this.#sink.onBody(chunk);
        break;
      default:
        throw new MalformedResponse("The service sent bytes outside a response.");
    }
  }

  #expectHead(): void {
    this.#phase = HEAD;
    this.#heldBytes = 0;
    this.#scanner.reset(this.#fieldsLeft);
  }

  /** Reads interim heads, then the final head and its body. */
  #takeHeads(chunk: Buffer): void {
    let rest = chunk;
    do {
      const at = this.#scanHead(rest);
      if (at === INCOMPLETE) return;
      if (this.#scanner.status >= 200) {
        this.#begin(rest, at);
        return;
      }
      this.#skipInterim();
      rest = rest.subarray(at);
    } while (rest.length > 0);
  }

  #scanHead(chunk: Buffer): number {
    const heldBytes = this.#heldBytes;
    const bytes = heldBytes === 0 ? chunk : this.#hold(chunk);
    const end = Math.min(heldBytes + chunk.length, this.#headBytesLeft);
    const headEnd = this.#scanner.scan(bytes, heldBytes, end);
    if (!this.#scanner.complete) {
      if (end === this.#headBytesLeft) throw new MalformedResponse("The head is too long.");
      if (heldBytes === 0) this.#hold(chunk);
      this.#heldBytes = end;
      return INCOMPLETE;
    }
    this.#headBytesLeft -= headEnd;
    this.#readFields(bytes.toString("latin1", 0, headEnd));
    return headEnd - heldBytes;
  }

  /** Adds `chunk` to the incomplete head, up to the maximum size of a head. */
  #hold(chunk: Buffer): Buffer {
    const bytesNeeded = Math.min(this.#heldBytes + chunk.length, HEAD_BYTES_MAX);
    if (this.#held.length < bytesNeeded) {
      const larger = Buffer.allocUnsafeSlow(Math.min(2 * bytesNeeded, HEAD_BYTES_MAX));
      larger.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = larger;
    }
    this.#held.set(chunk.subarray(0, bytesNeeded - this.#heldBytes), this.#heldBytes);
    return this.#held;
  }

  #readFields(head: string): void {
    const { names, values, status, minor } = this.#scanner;
    const fields: string[] = [];
    this.#framing.reset();
    for (let index = 0; index < names.length; index++) {
      const field = names[index];
      if (field === undefined || !(field.kept || field.meaning !== ORDINARY)) continue;
      const value = head.slice(values[2 * index], values[2 * index + 1]);
      if (field.kept) fields.push(field.name, value);
      else this.#framing.add(field.meaning, value);
    }
    this.#framing.check(status, minor);
    this.#fields = fields;
  }

  #skipInterim(): void {
    const { status, names } = this.#scanner;
    if (status === SWITCHING_PROTOCOLS) {
      throw new MalformedResponse("The service switched protocols without being asked.");
    }
    this.#fieldsLeft -= names.length;
    if (this.#framing.contentLength !== null) this.#hasInterimLength = true;
    this.#expectHead();
  }

  #begin(chunk: Buffer, at: number): void {
    const { status, minor } = this.#scanner;
    const { keepAliveTimeoutMs } = this.#framing;
    const contentLength = status === NO_CONTENT ? null : this.#framing.contentLength;
    const framing = this.#framing.of(status, this.#toHead);
    const fields = this.#framing.endToEnd(this.#fields);
    this.#keepAlive = this.#persists(framing, status, minor);
    this.#held = NOTHING;
    this.#phase = PHASES[framing];
    this.#sink.onHead({ status, fields, contentLength, keepAliveTimeoutMs });
    switch (framing) {
      case "none":
        this.#finish(at === chunk.length);
        break;
      case "length":
        this.#bodyBytesLeft = contentLength ?? 0;
        this.#takeLength(chunk, at);
        break;
      case "chunked":
        this.#chunked.reset();
        this.#takeChunks(chunk, at);
        break;
      case "close":
        if (at < chunk.length) this.#sink.onBody(chunk.subarray(at));
    }
  }

  #persists(framing: Framing, status: number, minor: number): boolean {
    if (framing === "close" || this.#hasInterimLength) return false;
    if (framing === "none" && this.#framing.announcesBody(status)) return false;
    return this.#framing.persists(minor);
  }

  #takeLength(chunk: Buffer, at: number): void {
    const end = Math.min(at + this.#bodyBytesLeft, chunk.length);
    this.#bodyBytesLeft -= end - at;
    if (end > at) this.#sink.onBody(chunk.subarray(at, end));
    if (this.#bodyBytesLeft === 0) this.#finish(end === chunk.length);
  }

  #takeChunks(chunk: Buffer, at: number): void {
    const end = this.#chunked.take(chunk, at);
    const { dataStart, dataEnd, complete } = this.#chunked;
    if (dataEnd > 0) this.#sink.onBody(chunk.subarray(dataStart, dataEnd));
    if (complete) this.#finish(end === chunk.length);
  }

  /**
   * @param alone true if no bytes follow the response. Otherwise, the connection is not reused, because these
   * bytes could be read as the next response.
   */
  #finish(alone: boolean): void {
    this.#phase = IDLE;
    this.#sink.onEnd(alone && this.#keepAlive);
  }
}
