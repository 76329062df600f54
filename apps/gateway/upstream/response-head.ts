import { type FieldName, type FieldNames, hashed } from "./field-names.ts";
import { COLON, CR, IS_TEXT, IS_TOKEN, LF, MalformedResponse, NINE, SPACE, TAB, ZERO } from "./http-bytes.ts";

/** The maximum bytes of all heads of one response together: the interim (1xx) heads and the final head. */
export const HEAD_BYTES_MAX = 65_536;
export const FIELDS_MAX = 200;

/** The states of the scanner. A state is the part of the head to which the next byte belongs. */
const VERSION = 0;
const STATUS = 1;
const AFTER_STATUS = 2;
const REASON = 3;
const LINE_FEED = 4;
const LINE_START = 5;
const NAME = 6;
const BEFORE_VALUE = 7;
const VALUE = 8;
const LAST_LINE_FEED = 9;
const COMPLETE = 10;

const VERSION_PREFIX = Buffer.from("HTTP/1.");
/** The offsets of the minor version and the status in the status line. */
const MINOR_AT = 7;
const STATUS_AT = 9;
const STATUS_END = 12;

/**
 * Finds the parts of a response's head (RFC 9112, sections 4 and 5). The head can arrive in pieces: the
 * caller keeps the bytes of an incomplete head, appends more and calls {@link scan} again.
 *
 * The head starts at index 0. Each `#read` method reads the part in its name and then calls the method for
 * the next part. It returns the index after the last byte that was read.
 */
export class HeadScanner {
  status = 0;
  minor = 0;
  readonly names: FieldName[] = [];
  /** Value n, without whitespace, starts at offset `values[2n]` and ends at `values[2n + 1]`. */
  readonly values: number[] = [];
  readonly #known: FieldNames;
  #state = VERSION;
  #start = 0;
  #hash = 0;
  #fieldsMax = FIELDS_MAX;

  constructor(known: FieldNames) {
    this.#known = known;
  }

  get complete(): boolean {
    return this.#state === COMPLETE;
  }

  reset(fieldsMax: number): void {
    this.#state = VERSION;
    this.#fieldsMax = fieldsMax;
    this.names.length = 0;
    this.status = 0;
  }

  /**
   * Continues at `at`, where the last call stopped. Returns the index after the last byte that was read: the
   * end of the head if it is {@link complete}, otherwise `end`.
   */
  scan(bytes: Buffer, at: number, end: number): number {
    switch (this.#state) {
      case VERSION:
        return this.#readVersion(bytes, at, end);
      case STATUS:
        return this.#readStatus(bytes, at, end);
      case AFTER_STATUS:
        return this.#readAfterStatus(bytes, at, end);
      case REASON:
        return this.#readReason(bytes, at, end);
      case LINE_FEED:
        return this.#readLineFeed(bytes, at, end);
      case LINE_START:
        return this.#readLines(bytes, at, end);
      case NAME:
        return this.#resume(bytes, this.#readName(bytes, at, end), end);
      case BEFORE_VALUE:
        return this.#resume(bytes, this.#readBeforeValue(bytes, at, end), end);
      case VALUE:
        return this.#resume(bytes, this.#readValue(bytes, at, end), end);
      default:
        return this.#readLastLineFeed(bytes, at, end);
    }
  }

  #readVersion(bytes: Buffer, from: number, end: number): number {
    let at = from;
    for (; at < MINOR_AT && at < end; at++) {
      if (bytes[at] !== VERSION_PREFIX[at]) throw new MalformedResponse("The status line is malformed.");
    }
    if (at === MINOR_AT && at < end) {
      this.minor = (bytes[at] ?? 0) - ZERO;
      if (this.minor !== 0 && this.minor !== 1)
        throw new MalformedResponse("The HTTP version is not supported.");
      at++;
    }
    if (at === MINOR_AT + 1 && at < end) {
      if (bytes[at] !== SPACE) throw new MalformedResponse("The status line is malformed.");
      this.#state = STATUS;
      return this.#readStatus(bytes, STATUS_AT, end);
    }
    return at;
  }

  #readStatus(bytes: Buffer, from: number, end: number): number {
    let at = from;
    for (; at < STATUS_END && at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte < ZERO || byte > NINE)
        throw new MalformedResponse("The status is not a number of three digits.");
      this.status = this.status * 10 + byte - ZERO;
    }
    if (at < STATUS_END) return at;
    if (this.status < 100 || this.status > 599) throw new MalformedResponse("The status is out of range.");
    this.#state = AFTER_STATUS;
    return this.#readAfterStatus(bytes, at, end);
  }

  /**
   * Accepts a status line that ends after the status. Common servers omit the reason and the space before the
   * reason, and the line stays unambiguous.
   */
  #readAfterStatus(bytes: Buffer, at: number, end: number): number {
    if (at === end) return at;
    if (bytes[at] === CR) return this.#readReason(bytes, at, end);
    if (bytes[at] !== SPACE) throw new MalformedResponse("The status is not a number of three digits.");
    this.#state = REASON;
    return this.#readReason(bytes, at + 1, end);
  }

  #readReason(bytes: Buffer, from: number, end: number): number {
    let at = from;
    while (at < end && IS_TEXT[bytes[at] ?? 0] === 1) at++;
    if (at === end) return at;
    if (bytes[at] !== CR) throw new MalformedResponse("The status line has a control byte.");
    this.#state = LINE_FEED;
    return this.#readLineFeed(bytes, at + 1, end);
  }

  /** Reads the end of the status line, or of a field line that was split before its line feed. */
  #readLineFeed(bytes: Buffer, at: number, end: number): number {
    if (at === end) return at;
    if (bytes[at] !== LF) throw new MalformedResponse("The head has a bare CR.");
    this.#state = LINE_START;
    return this.#readLines(bytes, at + 1, end);
  }

  #readLines(bytes: Buffer, from: number, end: number): number {
    let at = from;
    while (at < end && this.#state === LINE_START) {
      if (bytes[at] === CR) {
        this.#state = LAST_LINE_FEED;
        return this.#readLastLineFeed(bytes, at + 1, end);
      }
      if (this.names.length === this.#fieldsMax) throw new MalformedResponse("The head has too many fields.");
      this.#state = NAME;
      this.#start = at;
      this.#hash = 0;
      at = this.#readName(bytes, at, end);
    }
    return at;
  }

  #resume(bytes: Buffer, at: number, end: number): number {
    return this.#state === LINE_START ? this.#readLines(bytes, at, end) : at;
  }

  #readName(bytes: Buffer, from: number, end: number): number {
    let at = from;
    let hash = this.#hash;
    for (; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (IS_TOKEN[byte] !== 1) break;
      hash = hashed(hash, byte);
    }
    if (at === end) {
      this.#hash = hash;
      return at;
    }
    if (bytes[at] !== COLON || at === this.#start) {
      throw new MalformedResponse(whyNoName(bytes[at], at === this.#start));
    }
    this.names.push(this.#known.find(bytes, this.#start, at, hash));
    return this.#readBeforeValue(bytes, at + 1, end);
  }

  #readBeforeValue(bytes: Buffer, from: number, end: number): number {
    let at = from;
    while (at < end && isBlank(bytes[at])) at++;
    if (at === end) {
      this.#state = BEFORE_VALUE;
      return at;
    }
    this.#start = at;
    return this.#readValue(bytes, at, end);
  }

  #readValue(bytes: Buffer, from: number, end: number): number {
    let at = from;
    while (at < end && IS_TEXT[bytes[at] ?? 0] === 1) at++;
    if (at === end) {
      this.#state = VALUE;
      return at;
    }
    if (bytes[at] !== CR) throw new MalformedResponse(whyNoText(bytes[at]));
    let valueEnd = at;
    while (valueEnd > this.#start && isBlank(bytes[valueEnd - 1])) valueEnd--;
    const field = 2 * (this.names.length - 1);
    this.values[field] = this.#start;
    this.values[field + 1] = valueEnd;
    if (at + 1 === end) {
      this.#state = LINE_FEED;
      return end;
    }
    if (bytes[at + 1] !== LF) throw new MalformedResponse("The head has a bare CR.");
    this.#state = LINE_START;
    return at + 2;
  }

  #readLastLineFeed(bytes: Buffer, at: number, end: number): number {
    if (at === end) return at;
    if (bytes[at] !== LF) throw new MalformedResponse("The head has a bare CR.");
    this.#state = COMPLETE;
    return at + 1;
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

function whyNoName(byte: number | undefined, first: boolean): string {
  if (first && isBlank(byte)) return "A header field is folded over several lines.";
  if (byte === LF) return "The head has a bare LF.";
  return "A header field's name is not a token.";
}

function whyNoText(byte: number | undefined): string {
  return byte === LF ? "The head has a bare LF." : "A header field's value has a control byte.";
}
