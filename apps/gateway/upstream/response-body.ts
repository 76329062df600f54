import type { ReadableStreamDefaultReader } from "node:stream/web";
import { badGateway, ClientGone, type UpstreamCall } from "./call.ts";
import { EventTail } from "./event-tail.ts";
import { nextTurn, wholeBody } from "./whole-body.ts";

const COMMENT = new TextEncoder().encode(":\n");
/** When clients of a gateway that stops come back: not all at once. */
const RETRY_MS_MIN = 500;
const RETRY_MS_SPREAD = 2_000;

/** Told once how a streamed response ended: null when it was complete. */
export type OnEnd = (failure: Error | null) => void;

/**
 * Passes a service's body to the client as the client takes it. A body that breaks off or pauses too long
 * breaks the client's connection, so that nobody takes it for complete; a client that leaves ends the call.
 */
export class ResponseRelay {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  /** Asked for before it was needed. */
  #ahead: Promise<{ value?: Uint8Array }> | null = null;
  readonly #call: UpstreamCall;
  readonly #idle_timeout_ms: number;
  readonly #onEnd: OnEnd;
  #ended = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  /** Of server-sent events that can be read. */
  #events: EventTail | null = null;
  #leaving = false;

  constructor(body: ReadableStream<Uint8Array>, call: UpstreamCall, idle_timeout_ms: number, onEnd: OnEnd) {
    this.#reader = body.getReader();
    this.#call = call;
    this.#idle_timeout_ms = idle_timeout_ms;
    this.#onEnd = onEnd;
  }

  /**
   * The client's side, of which the first chunk is there. The runtime sends the head of a response with its
   * first byte only, so nothing is lost by waiting for that one, and a service that gives none gets its 502.
   */
  stream(first: Uint8Array): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          controller.enqueue(first);
          this.#call.awaitReader();
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

  /** The client's side of server-sent events: opened by a comment line, so that the head goes out at once. */
  eventStream(): ReadableStream<Uint8Array> {
    this.#events = new EventTail();
    return this.stream(COMMENT);
  }

  /**
   * The gateway stops: ends a stream of events so that its client connects again, which it is told when to do. At
   * once between two events, else behind the one that is on its way. A stream whose events can not be read is just
   * ended: clients drop what they have of an event.
   */
  leave(): void {
    this.#leaving = true;
    if (this.#events === null) this.finish();
    else if (this.#events.between) this.#tellToRetry();
  }

  /** Ends the client's side, as if the service had. */
  finish(): void {
    if (this.#ended) return;
    this.#controller?.close();
    this.#end(null);
    this.#call.stop("client_gone");
  }

  #tellToRetry(): void {
    if (this.#ended) return;
    const retry_ms = Math.round(RETRY_MS_MIN + Math.random() * RETRY_MS_SPREAD);
    this.#controller?.enqueue(new TextEncoder().encode(`retry: ${retry_ms}\n\n`));
    this.finish();
  }

  /** The whole body, for one that is known to be small. */
  async whole(length: number): Promise<Uint8Array> {
    const bytes = await wholeBody(length, () => this.next());
    if (bytes === null) throw badGateway("The service sent more or less than it announced.");
    return bytes;
  }

  /** The next chunk, undefined at the end. Rejects when the service takes too long. */
  next(): Promise<Uint8Array | undefined> {
    const read = this.#ahead ?? this.#reader.read();
    this.#ahead = null;
    this.#call.awaitService(this.#idle_timeout_ms, "idle");
    return read.then(this.#came);
  }

  readonly #came = ({ value }: { value?: Uint8Array }) => {
    this.#call.serviceCame();
    return value;
  };

  /** Rejects when the body broke off right behind the chunk that came last, while nothing has been sent yet. */
  async lookAhead(): Promise<void> {
    const read = this.#reader.read();
    this.#ahead = read;
    // in time it is awaited where the client asks for it
    read.catch(() => {});
    if (Bun.peek.status(read) === "pending") await nextTurn();
    if (Bun.peek.status(read) === "rejected") await read;
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#call.readerCame();
    try {
      const chunk = await this.next();
      if (this.#ended) return;
      if (chunk !== undefined) return this.#pass(controller, chunk);
      controller.close();
      this.#end(null);
    } catch (cause) {
      if (this.#ended) return;
      const failure = this.#call.failure(cause, 0);
      // in the turn in which the response began the runtime would drop its head, and print the failure
      await nextTurn();
      controller.error(failure);
      this.#end(failure);
    }
  }

  #pass(controller: ReadableStreamDefaultController<Uint8Array>, chunk: Uint8Array): void {
    const whole = this.#leaving && this.#events !== null ? this.#events.wholeEventsIn(chunk) : 0;
    controller.enqueue(whole === 0 ? chunk : chunk.subarray(0, whole));
    this.#call.awaitReader();
    this.#events?.passed(chunk);
    if (whole > 0) this.#tellToRetry();
  }

  #end(failure: Error | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#call.end();
    this.#onEnd(failure);
  }
}
