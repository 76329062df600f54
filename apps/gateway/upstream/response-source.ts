import type { Abortable, ByteSource } from "./upstream-client.ts";

/** The number of queued bytes at which the connection is paused. */
const QUEUED_BYTES_MAX = 262_144;

export interface BodyConnection extends Abortable {
  pause(): void;
  resume(): void;
}

/** The body of a response while it arrives. A slow consumer pauses the connection. */
export class ResponseSource implements ByteSource {
  readonly #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #paused = false;
  #waiting: PromiseWithResolvers<Uint8Array | undefined> | null = null;
  #ended = false;
  #failure: { readonly cause: unknown } | null = null;
  #connection: BodyConnection | null;

  constructor(connection: BodyConnection) {
    this.#connection = connection;
  }

  push(bytes: Uint8Array): void {
    const waiting = this.#waiting;
    if (waiting !== null) {
      this.#waiting = null;
      waiting.resolve(bytes);
      return;
    }
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.byteLength;
    if (this.#queuedBytes < QUEUED_BYTES_MAX || this.#paused) return;
    this.#paused = true;
    this.#connection?.pause();
  }

  /** Marks the body as complete, and resumes the connection for the next response. */
  end(): void {
    this.#ended = true;
    if (this.#paused) this.#connection?.resume();
    this.#connection = null;
    this.#waiting?.resolve(undefined);
  }

  fail(cause: unknown): void {
    this.#failure = { cause };
    this.#connection = null;
    this.#waiting?.reject(cause);
  }

  next(): Promise<Uint8Array | undefined> {
    const bytes = this.#queue.shift();
    if (bytes !== undefined) {
      this.#queuedBytes -= bytes.byteLength;
      this.#resume();
      return Promise.resolve(bytes);
    }
    if (this.#failure !== null) return Promise.reject(this.#failure.cause);
    if (this.#ended) return Promise.resolve(undefined);
    this.#waiting = Promise.withResolvers<Uint8Array | undefined>();
    return this.#waiting.promise;
  }

  cancel(): void {
    this.#queue.length = 0;
    this.#connection?.abort();
  }

  #resume(): void {
    if (!this.#paused || this.#queuedBytes >= QUEUED_BYTES_MAX) return;
    this.#paused = false;
    this.#connection?.resume();
  }
}
