import type { ByteSource, StreamedBody, UpstreamRequest } from "./upstream-client.ts";

/** The destination of a request's bytes. */
export interface RequestSink {
  /**
   * Accepts as many bytes as fit now. Returns their number, or a negative number if the connection is closed.
   */
  write(bytes: Uint8Array, offset: number, length: number): number;
  /** Called when a streamed body cannot be read to its end. */
  onRequestFailed(cause: unknown): void;
}

/** The size of the buffer that joins a head and a small body, so that one write sends both. */
const SCRATCH_BYTES = 128 * 1024;
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

const LAST_CHUNK = Buffer.from("0\r\n\r\n");
const LINE_END = Buffer.from("\r\n");

/**
 * Writes requests to one connection: the head and a small body in one write, a streamed body at the pace of
 * the connection. Bytes that the connection does not accept wait for {@link drained}.
 */
export class RequestWriter {
  readonly #sink: RequestSink;
  /** Bytes that the connection has not accepted yet. */
  #rest: Uint8Array | null = null;
  #onDrain: (() => void) | null = null;
  /** The streamed body that is being sent. */
  #source: ByteSource | null = null;
  #stopped = false;
  /** The number of bytes of the head that the connection has not accepted yet. */
  #headBytesLeft = 0;

  constructor(sink: RequestSink) {
    this.#sink = sink;
  }

  /** Whether the connection has accepted the whole request. */
  get complete(): boolean {
    return this.#source === null && this.#rest === null;
  }

  /** Whether the connection has accepted the whole head of the request. */
  get headWritten(): boolean {
    return this.#headBytesLeft <= 0;
  }

  /** Begins to write a request. */
  send(request: UpstreamRequest): void {
    const { body } = request;
    const isStreamed = body !== null && !(body instanceof Uint8Array);
    this.#writeWhole(headOf(request), isStreamed ? null : body);
    if (isStreamed) this.#stream(body);
  }

  /** Continues to write. Called when the connection accepts bytes again. */
  drained(): void {
    const rest = this.#rest;
    if (rest === null) return;
    this.#rest = null;
    this.#write(rest);
    if (this.#rest !== null) return;
    const onDrain = this.#onDrain;
    this.#onDrain = null;
    onDrain?.();
  }

  /** Discards all unwritten bytes, and the rest of a streamed body. */
  stop(): void {
    this.#stopped = true;
    this.#source?.cancel();
    this.#rest = null;
    this.#onDrain = null;
  }

  #writeWhole(head: string, body: Uint8Array | null): void {
    const bodyLength = body === null ? 0 : body.byteLength;
    const bytes =
      head.length + bodyLength <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafe(head.length + bodyLength);
    const headLength = bytes.write(head, 0, "latin1");
    if (body !== null) bytes.set(body, headLength);
    this.#headBytesLeft = headLength;
    this.#writeCopied(bytes, headLength + bodyLength);
  }

  /**
   * Writes the first `length` bytes of a reused buffer. Copies the bytes that the connection does not accept.
   */
  #writeCopied(bytes: Buffer, length: number): void {
    const written = Math.max(0, this.#sink.write(bytes, 0, length));
    this.#headBytesLeft -= written;
    if (written < length) this.#rest = new Uint8Array(bytes.subarray(written, length));
  }

  #write(bytes: Uint8Array): void {
    const written = Math.max(0, this.#sink.write(bytes, 0, bytes.byteLength));
    if (this.#headBytesLeft > 0) this.#headBytesLeft -= written;
    if (written < bytes.byteLength) this.#rest = bytes.subarray(written);
  }

  #stream(body: StreamedBody): void {
    this.#source = body.source;
    this.#pump(body).then(
      () => {
        this.#source = null;
      },
      (cause) => {
        if (!this.#stopped) this.#sink.onRequestFailed(cause);
      },
    );
  }

  /**
   * Sends a streamed body. Throws before the request is complete if the body is shorter or longer than
   * its Content-Length.
   */
  async #pump({ source, length }: StreamedBody): Promise<void> {
    let sent = 0;
    for (;;) {
      if (this.#rest !== null) await this.#drain();
      const chunk = await source.next();
      if (this.#stopped) return;
      if (chunk === undefined) break;
      sent += chunk.byteLength;
      if (length === null) await this.#writeChunk(chunk);
      else if (sent > length) throw new Error("The request body is longer than its Content-Length.");
      else this.#write(chunk);
    }
    if (length === null) this.#write(LAST_CHUNK);
    else if (sent < length) throw new Error("The request body is shorter than its Content-Length.");
    if (this.#rest !== null) await this.#drain();
  }

  async #writeChunk(chunk: Uint8Array): Promise<void> {
    if (chunk.byteLength === 0) return; // an empty chunk would end the body
    for (const part of [Buffer.from(`${chunk.byteLength.toString(16)}\r\n`), chunk, LINE_END]) {
      this.#write(part);
      if (this.#rest !== null) await this.#drain();
    }
  }

  #drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDrain = resolve;
    });
  }
}

/** Methods whose requests omit Content-Length if they have no body (RFC 9110, section 8.6). */
const BODILESS_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

function headOf({ method, path, target, fields, body }: UpstreamRequest): string {
  let head = `${method} ${path} HTTP/1.1\r\nHost: ${target}\r\n`;
  for (let index = 0; index < fields.length; index += 2) {
    head += `${fields[index]}: ${fields[index + 1]}\r\n`;
  }
  return `${head}${framingOf(method, body)}\r\n`;
}

function framingOf(method: string, body: UpstreamRequest["body"]): string {
  if (body === null) return BODILESS_METHODS.has(method) ? "" : "content-length: 0\r\n";
  if (body instanceof Uint8Array) return `content-length: ${body.byteLength}\r\n`;
  return body.length === null ? "transfer-encoding: chunked\r\n" : `content-length: ${body.length}\r\n`;
}
