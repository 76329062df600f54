/**
 * An HTTP/2 client (RFC 9113) that can send frames that no library would send. Header fields are literals
 * without compression, so that a test can choose every byte.
 */
import { RawClient, type RawHeaders } from "./raw-http.ts";

export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const END_STREAM = 1;
const ACK = 1;
export const END_HEADERS = 4;

/** The error codes of RFC 9113, section 7, that tests expect from a server. */
export const ErrorCode = {
  none: 0,
  protocol: 1,
  flowControl: 3,
  refusedStream: 7,
  cancel: 8,
  enhanceYourCalm: 11,
} as const;

export const Setting = {
  headerTableSize: 1,
  initialWindowSize: 4,
} as const;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** The end of a stream, with everything that the client received on it. */
export interface StreamEnd {
  /** The status of the response. It is null when no response began. */
  readonly status: number | null;
  readonly body: string;
  /**
   * The error code of RST_STREAM. It is null for a complete response and after the close of the connection.
   */
  readonly reset: number | null;
  /** Whether the response ended with END_STREAM. */
  readonly complete: boolean;
}

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FRAME_HEADER_BYTES = 9;
const FRAME_BYTES_MAX = 16_384;

/** Encodes a frame. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array | string = "",
): Buffer {
  const content = typeof payload === "string" ? Buffer.from(payload, "latin1") : payload;
  const head = Buffer.alloc(FRAME_HEADER_BYTES);
  head.writeUIntBE(content.byteLength, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, content]);
}

/** Encodes header fields in Latin-1 as HPACK literals, which the peer does not add to its dynamic table. */
export function fieldBlock(fields: RawHeaders): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]));
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  return Buffer.concat([prefixedInteger(bytes.byteLength, 7), bytes]);
}

/** Encodes an integer as in RFC 7541, section 5.1. */
function prefixedInteger(value: number, bits: number): Buffer {
  const max = 2 ** bits - 1;
  if (value < max) return Buffer.from([value]);
  const bytes = [max];
  let rest = value - max;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

export interface RequestSpelling {
  readonly method?: string;
  readonly path?: string;
  readonly authority?: string;
  readonly scheme?: string;
  readonly fields?: RawHeaders;
}

/** Returns the header fields of a request, the pseudo-header fields first. */
export function requestFields(spelling: RequestSpelling = {}): RawHeaders {
  const { method = "GET", path = "/widgets", authority = "gateway.test", scheme = "http" } = spelling;
  return [
    [":method", method],
    [":scheme", scheme],
    [":path", path],
    [":authority", authority],
    ...(spelling.fields ?? []),
  ];
}

/** Encodes header fields as a HEADERS frame, with CONTINUATION frames if one frame cannot hold them. */
export function headersFrames(stream: number, fields: RawHeaders, flags = END_STREAM): Buffer {
  const block = fieldBlock(fields);
  const frames: Buffer[] = [];
  for (let from = 0; from === 0 || from < block.byteLength; from += FRAME_BYTES_MAX) {
    const part = block.subarray(from, from + FRAME_BYTES_MAX);
    const last = from + FRAME_BYTES_MAX >= block.byteLength ? END_HEADERS : 0;
    const [type, first] = from === 0 ? [FrameType.headers, flags] : [FrameType.continuation, 0];
    frames.push(frame(type, first | last, stream, part));
  }
  return Buffer.concat(frames);
}

/** Encodes content as DATA frames of at most 16 KiB each. */
export function dataFrames(stream: number, content: string | Uint8Array, isEnd: boolean): Buffer {
  const bytes = typeof content === "string" ? Buffer.from(content, "latin1") : content;
  const frames: Buffer[] = [];
  for (let from = 0; from === 0 || from < bytes.byteLength; from += FRAME_BYTES_MAX) {
    const isLast = isEnd && from + FRAME_BYTES_MAX >= bytes.byteLength;
    const part = bytes.subarray(from, from + FRAME_BYTES_MAX);
    frames.push(frame(FrameType.data, isLast ? END_STREAM : 0, stream, part));
  }
  return Buffer.concat(frames);
}

export function resetFrame(stream: number, code: number = ErrorCode.cancel): Buffer {
  return frame(FrameType.reset, 0, stream, uint32(code));
}

export function windowUpdateFrame(stream: number, increment: number): Buffer {
  return frame(FrameType.windowUpdate, 0, stream, uint32(increment));
}

function settingsFrame(settings: Readonly<Record<number, number>> = {}): Buffer {
  const entries = Object.entries(settings).map(([id, value]) => {
    const entry = Buffer.alloc(6);
    entry.writeUInt16BE(Number(id), 0);
    entry.writeUInt32BE(value, 2);
    return entry;
  });
  return frame(FrameType.settings, 0, 0, Buffer.concat(entries));
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/**
 * A client with one connection. It starts HTTP/2 with prior knowledge and sends the preface and SETTINGS at
 * once.
 */
export class RawHttp2Client {
  readonly frames: Frame[] = [];
  readonly #socket: RawClient;
  #readBytes = 0;

  private constructor(socket: RawClient) {
    this.#socket = socket;
    socket.onData = () => this.#read();
  }

  static async connect(
    url: string,
    settings: Readonly<Record<number, number>> = {},
  ): Promise<RawHttp2Client> {
    const client = new RawHttp2Client(await RawClient.connect(url));
    // With a table size of 0, no response refers to the dynamic table, which `statusOf` does not implement.
    client.send(PREFACE, settingsFrame({ [Setting.headerTableSize]: 0, ...settings }));
    return client;
  }

  send(...parts: (string | Uint8Array)[]): void {
    const bytes = parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part));
    this.#socket.send(Buffer.concat(bytes));
  }

  get closed(): boolean {
    return this.#socket.closed;
  }

  /** The number of bytes that the kernel has not accepted yet. */
  get unsent(): number {
    return this.#socket.unsent;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  ofType(type: number, stream?: number): Frame[] {
    return this.frames.filter(
      (each) => each.type === type && (stream === undefined || each.stream === stream),
    );
  }

  /** Resolves with the first value other than null that `look` returns, as `RawSocket.until` does. */
  until<T>(look: () => T | null, what: string, timeoutMs?: number): Promise<T> {
    return this.#socket.until(look, what, timeoutMs);
  }

  untilClosed(timeoutMs?: number): Promise<void> {
    return this.#socket.untilClosed(timeoutMs);
  }

  /** Resolves once a stream has ended: with END_STREAM, with RST_STREAM or with the connection. */
  end(stream: number, timeoutMs?: number): Promise<StreamEnd> {
    return this.until(() => this.#endOf(stream), `The end of stream ${stream}`, timeoutMs);
  }

  /** Sends a request without a body and resolves with the end of its stream. */
  request(stream: number, spelling: RequestSpelling = {}): Promise<StreamEnd> {
    this.send(headersFrames(stream, requestFields(spelling)));
    return this.end(stream);
  }

  /**
   * Sends PING and resolves on its acknowledgment, when the server has read everything that was sent before.
   */
  async synced(): Promise<void> {
    const before = this.#pongs();
    this.send(frame(FrameType.ping, 0, 0, "synced??"));
    await this.until(() => this.closed || this.#pongs() > before || null, "The acknowledgment of PING");
  }

  /** The error code of GOAWAY. It is null when the server has sent no GOAWAY. */
  get goAway(): number | null {
    return this.ofType(FrameType.goAway)[0]?.payload.readUInt32BE(4) ?? null;
  }

  #pongs(): number {
    return this.frames.filter(({ type, flags }) => type === FrameType.ping && flags === ACK).length;
  }

  #endOf(stream: number): StreamEnd | null {
    const of = this.frames.filter((each) => each.stream === stream);
    const heads = of.filter(({ type }) => type === FrameType.headers).map(statusOf);
    const status = heads.find((each) => each >= 200) ?? null;
    const data = of.filter(({ type }) => type === FrameType.data).map(({ payload }) => payload);
    const body = Buffer.concat(data).toString();
    const reset = of.find(({ type }) => type === FrameType.reset)?.payload.readUInt32BE(0) ?? null;
    const complete = of.some(({ type, flags }) => type <= FrameType.headers && (flags & END_STREAM) !== 0);
    if (!complete && reset === null && !this.closed) return null;
    return { status, body, reset: complete ? null : reset, complete };
  }

  #read(): void {
    const { received } = this.#socket;
    for (;;) {
      const rest = received.subarray(this.#readBytes);
      if (rest.byteLength < FRAME_HEADER_BYTES) return;
      const length = FRAME_HEADER_BYTES + rest.readUIntBE(0, 3);
      if (rest.byteLength < length) return;
      const payload = rest.subarray(FRAME_HEADER_BYTES, length);
      this.frames.push({ type: rest[3] ?? 0, flags: rest[4] ?? 0, stream: rest.readUInt32BE(5), payload });
      this.#readBytes += length;
    }
  }
}

/** The statuses of entries 8 to 14 of the static table in RFC 7541. */
const INDEXED_STATUSES = [200, 204, 206, 304, 400, 404, 500];
/** The Huffman codes of the digits 0 to 9 in RFC 7541. */
const DIGITS = "00000 00001 00010 011001 011010 011011 011100 011101 011110 011111".split(" ");

/** Decodes the status in a HEADERS frame, in which it is the first field. */
function statusOf({ payload }: Frame): number {
  // Skips updates of the table's size, which precede the first field.
  const start = payload.findIndex((byte) => (byte & 0xe0) !== 0x20);
  const first = payload[start] ?? 0;
  if ((first & 0x80) !== 0) return INDEXED_STATUSES[(first & 0x7f) - 8] ?? Number.NaN;
  const length = payload[start + 1] ?? 0;
  const value = payload.subarray(start + 2, start + 2 + (length & 0x7f));
  return Number((length & 0x80) === 0 ? value.toString() : digitsIn(value));
}

function digitsIn(bytes: Buffer): string {
  let bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  let text = "";
  for (;;) {
    const digit = DIGITS.findIndex((code) => bits.startsWith(code));
    if (digit < 0 || text.length === 3) return text;
    text += digit;
    bits = bits.slice(DIGITS[digit]?.length);
  }
}
