import { UnmarkedSource } from "./byte-order-mark.ts";
import { badGateway, ClientGone, type UpstreamCall } from "./call.ts";
import { EventTail } from "./event-tail.ts";
import type { ByteSource } from "./upstream-client.ts";
import { nextIteration, wholeBody } from "./whole-body.ts";

const encoder = new TextEncoder();

/** The comment line that opens a stream, so that its head is sent immediately (GW-112). */
const OPENING_COMMENT = encoder.encode(":\n");

/** The delay after which clients reconnect, random so that clients do not all reconnect at the same time. */
const RETRY_MS_MIN = 500;
const RETRY_MS_SPREAD = 2_000;

/** The callback that runs once when a streamed response ends, with null if the response was complete. */
export type OnEnd = (failure: Error | null) => void;

/**
 * Streams a service's body to the client at the client's pace. If the body breaks off or pauses too long, the
 * client's connection is cut. Otherwise, the client could mistake the body for a complete one. If the client
 * leaves, the call ends.
 */
export class ResponseRelay {
  #source: ByteSource;
  /** The next chunk, which {@link lookAhead} has requested in advance. */
  #ahead: Promise<Uint8Array | undefined> | null = null;
  readonly #call: UpstreamCall;
  readonly #idleTimeoutMs: number;
  readonly #onEnd: OnEnd;
  /** The number of bytes of the service's body that were written to the client's stream. */
  bytes = 0;
  #ended = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  /** The position in a stream of server-sent events; null for other streams and for encoded event streams. */
  #events: EventTail | null = null;
  #leaving = false;

  constructor(source: ByteSource, call: UpstreamCall, idleTimeoutMs: number, onEnd: OnEnd) {
    this.#source = source;
    this.#call = call;
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#onEnd = onEnd;
  }

  /**
   * Returns the stream for the client, which starts with the chunk `first`. The runtime sends the head of a
   * response together with the first byte of the body, so waiting for `first` delays nothing. If the service
   * breaks off before that byte, the client gets a 502.
   */
  stream(first: Uint8Array): ReadableStream<Uint8Array> {
    this.bytes = first.byteLength;
    return this.#open(first);
  }

  #open(first: Uint8Array): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          controller.enqueue(first);
          this.#call.awaitClientRead();
        },
        pull: (controller) => this.#pull(controller),
        cancel: () => {
          this.#call.stop("client_gone");
          this.#end(new ClientGone());
        },
      },
      { highWaterMark: 0 },
    );
  }

  /**
   * Returns the stream of server-sent events for the client. The stream starts with a comment line, so that
   * the runtime sends the head immediately.
   */
  eventStream(): ReadableStream<Uint8Array> {
    this.#events = new EventTail();
    this.#source = new UnmarkedSource(this.#source);
    return this.#open(OPENING_COMMENT);
  }

  /**
   * Ends an event stream when the gateway stops. The stream ends after the current event, with a `retry`
   * field that tells the client when to reconnect. An encoded stream ends immediately, without a `retry`
   * field; clients discard an incomplete event.
   */
  leave(): void {
    this.#leaving = true;
    if (this.#events === null) this.finish();
    else if (this.#events.between) this.#endWithRetry();
  }

  /** Ends the client's stream as if the service had ended it. */
  finish(): void {
    if (this.#ended) return;
    this.#controller?.close();
    this.#end(null);
    this.#call.stop("client_gone");
  }

  #endWithRetry(): void {
    if (this.#ended) return;
    this.#controller?.enqueue(retryField());
    this.finish();
  }

  /** Returns the complete body of a small response. */
  async whole(length: number): Promise<Uint8Array> {
    const bytes = await wholeBody(length, () => this.next());
    if (bytes === null) throw badGateway("The response is shorter or longer than its Content-Length.");
    return bytes;
  }

  /** Returns the next chunk, or undefined at the end. Rejects if the service takes too long. */
  next(): Promise<Uint8Array | undefined> {
    const read = this.#ahead ?? this.#source.next();
    this.#ahead = null;
    this.#call.awaitService(this.#idleTimeoutMs, "idle");
    return read.then(this.#came);
  }

  readonly #came = (chunk: Uint8Array | undefined) => {
    this.#call.serviceSent();
    return chunk;
  };

  /**
   * Rejects if the body breaks off directly after the first chunk. The client has not received a byte yet, so
   * it can still get a 502.
   */
  async lookAhead(): Promise<void> {
    const read = this.#source.next();
    this.#ahead = read;
    // Prevent an unhandled rejection: only the next call of `next` awaits the promise.
    read.catch(() => {});
    if (Bun.peek.status(read) === "pending") await nextIteration();
    if (Bun.peek.status(read) === "rejected") await read;
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#call.clientRead();
    try {
      const chunk = await this.next();
      if (this.#ended) return;
      if (chunk !== undefined) return this.#pass(controller, chunk);
      controller.close();
      this.#end(null);
    } catch (cause) {
      if (this.#ended) return;
      const failure = this.#call.failure(cause, 0);
      // An error in the event-loop iteration that began the response would make the runtime drop the head and
      // print the failure.
      await nextIteration();
      controller.error(failure);
      this.#end(failure);
    }
  }

  #pass(controller: ReadableStreamDefaultController<Uint8Array>, chunk: Uint8Array): void {
    this.bytes += chunk.byteLength;
    const whole = this.#leaving && this.#events !== null ? this.#events.wholeEventsIn(chunk) : 0;
    controller.enqueue(whole === 0 ? chunk : chunk.subarray(0, whole));
    this.#call.awaitClientRead();
    this.#events?.passed(chunk);
    if (whole > 0) this.#endWithRetry();
  }

  #end(failure: Error | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#call.end();
    this.#onEnd(failure);
  }
}

/** Returns the field that tells a client when to reconnect to another gateway (GW-159). */
function retryField(): Uint8Array<ArrayBuffer> {
  const retryMs = Math.round(RETRY_MS_MIN + Math.random() * RETRY_MS_SPREAD);
  return encoder.encode(`retry: ${retryMs}\n\n`);
}
