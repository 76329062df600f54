import type { Clock } from "@ostiary/lib/async";
import { systemErrorCode } from "@ostiary/lib/domain/errors";
import type { EventLoopTurns, TurnWaiter } from "./event-loop-turns.ts";
import type { FieldNames } from "./field-names.ts";
import { MalformedResponse } from "./http-bytes.ts";
import { type RequestSink, RequestWriter } from "./request-writer.ts";
import { type ResponseHead, ResponseReader, type ResponseSink } from "./response-reader.ts";
import { type BodyConnection, ResponseSource } from "./response-source.ts";
import type { Abortable, UpstreamRequest, UpstreamResponse } from "./upstream-client.ts";

/**
 * The reason why a connection was closed, as metrics count it.
 *
 * - `idle`: the connection was idle for too long, or the gateway had too many idle connections.
 * - `aged`: the connection was older than the maximum, so that the next one goes to a current address.
 * - `service`: the service closed the connection between two requests.
 * - `last`: the connection could not carry another request.
 * - `abandoned`: the gateway aborted the request.
 * - `broken`: the connection was lost during a request.
 * - `malformed`: the service sent bytes that are not a valid response.
 */
export type CloseReason = "idle" | "aged" | "service" | "last" | "abandoned" | "broken" | "malformed";

/** The error for a connection that closed before the response was complete. The code can be logged. */
export class ConnectionBroken extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`The connection broke off: ${code}.`);
    this.name = "ConnectionBroken";
    this.code = code;
  }
}

export interface CarriedRequest {
  readonly request: UpstreamRequest;
  responded(response: UpstreamResponse): void;
  /**
   * Called when the request fails before a response begins.
   *
   * @param isStale whether the connection was reused and was lost before the first byte of this response
   */
  failed(cause: unknown, isStale: boolean): void;
  /** Called when a reused connection was lost before any byte of the request was written. */
  unsent(): void;
  released(): void;
}

/** Waits for a connection to be established. One of the callbacks is called, once. */
export interface ConnectionDialer {
  opened(connection: Connection, tookMs: number): void;
  unopened(cause: unknown): void;
}

export interface ConnectionOwner {
  freed(connection: Connection): void;
  closed(connection: Connection, reason: CloseReason): void;
}

export interface ConnectionEnvironment {
  readonly names: FieldNames;
  readonly clock: Clock;
  readonly turns: EventLoopTurns;
}

/**
 * One TCP connection to a service. The connection carries one request at a time. The connection is free again
 * when the request has been sent and the response has been read.
 *
 * Bytes that arrived before a request belong to no response. So the connection writes a request only after the
 * event loop has polled once more. Bytes that this poll delivers close the connection (GW-126).
 */
export class Connection implements Abortable, BodyConnection, TurnWaiter, RequestSink, ResponseSink {
  /** The time until which the idle connection may be reused, in milliseconds of the owner's clock. */
  usableUntilMs = 0;
  agedAtMs = Number.POSITIVE_INFINITY;
  uses = 0;
  /** The time for which the service keeps the idle connection, or null if the service announces no time. */
  keepAliveMs: number | null = null;
  readonly #owner: ConnectionOwner;
  readonly #clock: Clock;
  readonly #turns: EventLoopTurns;
  readonly #reader: ResponseReader;
  readonly #writer: RequestWriter;
  #socket: Bun.Socket<Connection> | null = null;
  #dialer: ConnectionDialer | null = null;
  #carried: CarriedRequest | null = null;
  /** The head that the current chunk completed, until the whole chunk has been read. */
  #head: ResponseHead | null = null;
  /** The start of the body, if it arrived in the same chunk as the head. */
  #first: Uint8Array | null = null;
  #source: ResponseSource | null = null;
  #isHeld = false;
  #closed = false;
  #dialedMs = 0;

  constructor(owner: ConnectionOwner, { names, clock, turns }: ConnectionEnvironment) {
    this.#owner = owner;
    this.#clock = clock;
    this.#turns = turns;
    this.#reader = new ResponseReader(names, this);
    this.#writer = new RequestWriter(this);
  }

  static readonly #handlers: Bun.SocketHandler<Connection> = {
    binaryType: "buffer",
    open: (socket) => socket.data.#opened(socket),
    data: (socket, chunk) => socket.data.#received(chunk),
    drain: (socket) => socket.data.#writer.drained(),
    end: (socket) => socket.data.#ended(),
    close: (socket, error) => socket.data.#lost(error),
  };

  connect(hostname: string, port: number, dialer: ConnectionDialer): void {
    const socket = Connection.#handlers;
    this.#dialer = dialer;
    this.#dialedMs = this.#clock.elapsedMs();
    Bun.connect<Connection>({ hostname, port, socket, data: this }).catch((cause: unknown) => {
      if (this.#socket === null) dialer.unopened(cause);
    });
  }

  /** Sends a request over the idle connection, after the next poll of the event loop. */
  send(carried: CarriedRequest): void {
    this.#carried = carried;
    this.#isHeld = true;
    this.#turns.after(this);
  }

  afterTurn(): void {
    const carried = this.#carried;
    if (carried === null || !this.#isHeld) return;
    this.#isHeld = false;
    this.uses += 1;
    this.#reader.expect(carried.request.method);
    this.#writer.send(carried.request);
  }

  abort(): void {
    this.#close("abandoned", new ConnectionBroken("ECONNABORTED"));
  }

  retire(reason: "idle" | "aged" = "idle"): void {
    this.#close(reason, null);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  /** Returns the number of accepted bytes, or a negative number if the socket is closed. */
  write(bytes: Uint8Array, offset: number, length: number): number {
    return this.#socket?.write(bytes, offset, length) ?? -1;
  }

  /** Closes the connection, because the body of its request could not be read to the end. */
  onRequestFailed(cause: unknown): void {
    this.#close("abandoned", cause);
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
  }

  onBody(bytes: Uint8Array): void {
    if (this.#source === null) this.#first = bytes;
    else this.#source.push(bytes);
  }

  onEnd(reusable: boolean): void {
    const carried = this.#carried;
    const source = this.#source;
    this.#source = null;
    this.#carried = null;
    carried?.released();
    if (source === null) this.#respond(carried, null);
    else source.end();
    if (reusable && this.#writer.complete) this.#owner.freed(this);
    else this.#close("last", null);
  }

  #opened(socket: Bun.Socket<Connection>): void {
    this.#socket = socket;
    this.#dialer?.opened(this, this.#clock.elapsedMs() - this.#dialedMs);
    this.#dialer = null;
  }

  #received(chunk: Buffer): void {
    if (this.#closed) return;
    try {
      if (!this.#writer.headWritten) throw new MalformedResponse("A response came before its request.");
      this.#reader.take(chunk);
    } catch (cause) {
      this.#close("malformed", cause);
      return;
    }
    if (this.#head === null) return;
    this.#source = new ResponseSource(this);
    this.#respond(this.#carried, this.#source);
  }

  /** Passes the response to the request, with the complete body or with the source of an arriving body. */
  #respond(carried: CarriedRequest | null, source: ResponseSource | null): void {
    const head = this.#head;
    if (head === null || carried === null) return;
    const first = this.#first;
    this.#head = null;
    this.#first = null;
    this.keepAliveMs = head.keepAliveTimeoutMs;
    if (source !== null && first !== null) source.push(first);
    const { status, fields, contentLength: length } = head;
    carried.responded({ status, fields, length, body: source ?? first });
  }

  #ended(): void {
    if (this.#closed) return;
    try {
      this.#reader.end();
      this.#close("service", new ConnectionBroken("ECONNRESET"));
    } catch {
      this.#close("broken", new ConnectionBroken("ECONNRESET"));
    }
  }

  /** Handles the close of the socket. An error means a reset. */
  #lost(error: Error | undefined): void {
    const reason = this.#carried === null || this.#isHeld ? "service" : "broken";
    this.#close(reason, new ConnectionBroken(systemErrorCode(error) ?? "ECONNRESET"));
  }

  /** Closes the connection and fails the request that it carries with `cause`. */
  #close(reason: CloseReason, cause: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    const carried = this.#carried;
    const source = this.#source;
    const isStale = reason === "broken" && this.uses > 1 && !this.#reader.begun;
    const isUnsent = this.#isHeld && this.uses > 0 && reason !== "abandoned";
    this.#isHeld = false;
    this.#carried = null;
    this.#source = null;
    this.#writer.stop();
    if (reason === "idle" || reason === "aged") this.#socket?.end();
    else this.#socket?.terminate();
    carried?.released();
    this.#owner.closed(this, reason);
    if (source !== null) source.fail(cause);
    else if (isUnsent) carried?.unsent();
    else carried?.failed(cause, isStale);
  }
}
