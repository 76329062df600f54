import type { ReadableStreamDefaultReader } from "node:stream/web";
import { badGateway, ClientGone, type UpstreamCall } from "./call.ts";
import { nextTurn, wholeBody } from "./whole-body.ts";

const COMMENT = new TextEncoder().encode(":\n");

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
        start: (controller) => controller.enqueue(first),
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
    return this.stream(COMMENT);
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
    try {
      const chunk = await this.next();
      if (chunk !== undefined) return controller.enqueue(chunk);
      controller.close();
      this.#end(null);
    } catch (cause) {
      const failure = this.#call.failure(cause, 0);
      // in the turn in which the response began the runtime would drop its head, and print the failure
      await nextTurn();
      controller.error(failure);
      this.#end(failure);
    }
  }

  #end(failure: Error | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#call.end();
    this.#onEnd(failure);
  }
}
