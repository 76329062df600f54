import {
  COLON,
  CR,
  HEX_VALUE,
  IS_TEXT,
  IS_TOKEN,
  LF,
  MalformedResponse,
  NOT_HEX,
  SEMICOLON,
  SPACE,
  TAB,
} from "./http-bytes.ts";

const SIZE_DIGITS_MAX = 16;
/** The maximum count of bytes in chunk extensions. Each byte of data lowers the count by one, down to 0. */
const EXTENSION_BYTES_MAX = 65_536;
const TRAILER_BYTES_MAX = 65_536;
const TRAILERS_MAX = 200;

/** The states of the parser. A state is the part of the body to which the next byte belongs. */
const REFUSED = 0;
const SIZE_START = 1;
const SIZE = 2;
const BEFORE_EXTENSION = 3;
const EXTENSION = 4;
const SIZE_LF = 5;
const DATA = 6;
const DATA_CR = 7;
const DATA_LF = 8;
const TRAILER_START = 9;
const TRAILER_NAME = 10;
const TRAILER_VALUE = 11;
const TRAILER_LF = 12;
const LAST_LF = 13;
const COMPLETE = 14;
const STATES = 15;

/** The classes of bytes. Class 0 has the bytes that no part of the framing may contain. */
const HEX_CLASS = 1;
const TOKEN_CLASS = 2;
const TEXT_CLASS = 3;
const BLANK_CLASS = 4;
const COLON_CLASS = 5;
const SEMICOLON_CLASS = 6;
const CR_CLASS = 7;
const LF_CLASS = 8;
const CLASS_BITS = 4;

const CLASS_OF = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (HEX_VALUE[byte] !== NOT_HEX) return HEX_CLASS;
  if (IS_TOKEN[byte] === 1) return TOKEN_CLASS;
  const own = new Map([
    [SPACE, BLANK_CLASS],
    [TAB, BLANK_CLASS],
    [COLON, COLON_CLASS],
    [SEMICOLON, SEMICOLON_CLASS],
    [CR, CR_CLASS],
    [LF, LF_CLASS],
  ]).get(byte);
  return own ?? (IS_TEXT[byte] === 1 ? TEXT_CLASS : 0);
});

const TOKEN = [HEX_CLASS, TOKEN_CLASS];
const TEXT = [...TOKEN, TEXT_CLASS, BLANK_CLASS, COLON_CLASS, SEMICOLON_CLASS];

/** The chunked coding (RFC 9112, section 7.1): in state `from`, a byte of `classes` leads to `to`. */
const TRANSITIONS: readonly [from: number, classes: readonly number[], to: number][] = [
  [SIZE_START, [HEX_CLASS], SIZE],
  [SIZE, [HEX_CLASS], SIZE],
  [SIZE, [BLANK_CLASS], BEFORE_EXTENSION],
  [SIZE, [SEMICOLON_CLASS], EXTENSION],
  [SIZE, [CR_CLASS], SIZE_LF],
  [BEFORE_EXTENSION, [BLANK_CLASS], BEFORE_EXTENSION],
  [BEFORE_EXTENSION, [SEMICOLON_CLASS], EXTENSION],
  [EXTENSION, TEXT, EXTENSION],
  [EXTENSION, [CR_CLASS], SIZE_LF],
  [SIZE_LF, [LF_CLASS], DATA],
  [DATA_CR, [CR_CLASS], DATA_LF],
  [DATA_LF, [LF_CLASS], SIZE_START],
  [TRAILER_START, TOKEN, TRAILER_NAME],
  [TRAILER_START, [CR_CLASS], LAST_LF],
  [TRAILER_NAME, TOKEN, TRAILER_NAME],
  [TRAILER_NAME, [COLON_CLASS], TRAILER_VALUE],
  [TRAILER_VALUE, TEXT, TRAILER_VALUE],
  [TRAILER_VALUE, [CR_CLASS], TRAILER_LF],
  [TRAILER_LF, [LF_CLASS], TRAILER_START],
  [LAST_LF, [LF_CLASS], COMPLETE],
];

const NEXT_STATE = new Uint8Array(STATES << CLASS_BITS).fill(REFUSED);
for (const [from, classes, to] of TRANSITIONS) {
  for (const each of classes) NEXT_STATE[(from << CLASS_BITS) | each] = to;
}

/** Decodes a chunked body that arrives in pieces of any size. Checks and discards the trailers. */
export class ChunkedBody {
  /** The range of the data in the bytes of the last {@link take}. Both offsets are 0 without data. */
  dataStart = 0;
  dataEnd = 0;
  #state = SIZE_START;
  /** The size of the chunk while its digits are read, and then the bytes that have not arrived yet. */
  #size = 0;
  #digits = 0;
  #extensionBytes = 0;
  #trailerBytes = 0;
  #trailers = 0;

  get complete(): boolean {
    return this.#state === COMPLETE;
  }

  reset(): void {
    this.#state = SIZE_START;
    this.#size = 0;
    this.#digits = 0;
    this.#extensionBytes = 0;
    this.#trailerBytes = 0;
    this.#trailers = 0;
  }

  /**
   * Reads `bytes`, starting at `from`. Moves the data of all chunks together, between {@link dataStart} and
   * {@link dataEnd}: one view costs less than a view of each chunk.
   *
   * @returns the index after the last byte that was read: the end of the body if the body is
   * {@link complete}, otherwise the end of `bytes`
   */
  take(bytes: Buffer, from: number): number {
    let at = from;
    this.dataStart = 0;
    this.dataEnd = 0;
    while (at < bytes.length && this.#state !== COMPLETE) {
      at = this.#state === DATA ? this.#takeData(bytes, at) : this.#takeFraming(bytes, at);
    }
    return at;
  }

  #takeData(bytes: Buffer, from: number): number {
    const end = Math.min(from + this.#size, bytes.length);
    if (this.dataEnd === 0) {
      this.dataStart = from;
      this.dataEnd = end;
    } else {
      bytes.copyWithin(this.dataEnd, from, end);
      this.dataEnd += end - from;
    }
    this.#size -= end - from;
    if (this.#size === 0) this.#state = DATA_CR;
    return end;
  }

  #takeFraming(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length) {
      const byte = bytes[at++] ?? 0;
      const state = NEXT_STATE[(this.#state << CLASS_BITS) | (CLASS_OF[byte] ?? 0)] ?? REFUSED;
      if (state === REFUSED) throw new MalformedResponse(whyRefused(this.#state));
      this.#state = state;
      if (state === SIZE) this.#addDigit(HEX_VALUE[byte] ?? 0);
      else if (state === DATA) this.#beginChunk();
      else if (state === BEFORE_EXTENSION || state === EXTENSION) this.#countExtension();
      else if (state >= TRAILER_NAME) this.#countTrailer(state);
      if (this.#state === DATA || this.#state === COMPLETE) return at;
    }
    return at;
  }

  #addDigit(value: number): void {
    this.#size = this.#size * 16 + value;
    if (++this.#digits > SIZE_DIGITS_MAX || this.#size > Number.MAX_SAFE_INTEGER) {
      throw new MalformedResponse("A chunk's size is too long.");
    }
  }

  #beginChunk(): void {
    this.#digits = 0;
    this.#extensionBytes = Math.max(0, this.#extensionBytes - this.#size);
    if (this.#size === 0) this.#state = TRAILER_START;
  }

  #countExtension(): void {
    if (++this.#extensionBytes > EXTENSION_BYTES_MAX) {
      throw new MalformedResponse("The chunk extensions are too long.");
    }
  }

  #countTrailer(state: number): void {
    if (state === TRAILER_LF && ++this.#trailers > TRAILERS_MAX) {
      throw new MalformedResponse("The trailer section has too many fields.");
    }
    if (++this.#trailerBytes > TRAILER_BYTES_MAX) {
      throw new MalformedResponse("The trailer section is too long.");
    }
  }
}

function whyRefused(state: number): string {
  if (state === DATA_CR || state === DATA_LF) return "A chunk's data do not end where its size says.";
  if (state >= TRAILER_START) return "The trailer section is malformed.";
  if (state === EXTENSION) return "A chunk extension is malformed.";
  return "A chunk's size is malformed.";
}
