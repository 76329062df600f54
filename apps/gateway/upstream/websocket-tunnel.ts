import { unstalledClock } from "@ostiary/lib/async";
import { badGateway } from "./call.ts";
import { SilenceWatch } from "./websocket-silence.ts";

/** The number of queued bytes for one side at which the other side is paused. */
const QUEUED_BYTES_MAX = 262_144;
/** The maximum number of bytes that the runtime delivers after a pause: the rest of one read. */
const READ_BYTES_MAX = 524_288;
/** The interval for checking the queue of a slow service, because the runtime reports no drain. */
const DRAIN_POLL_MS = 5;
/** The time after which the gateway cuts a side that has not acknowledged a close. */
const CLOSE_TIMEOUT_MS = 2_000;

const NORMAL = 1000;
const GOING_AWAY = 1001;
const NO_STATUS = 1005;
const ABNORMAL = 1006;
const TOO_BIG = 1009;
const BAD_GATEWAY = 1014;

export interface TunnelLimits {
  /** The time without data in either direction, or without a sign of life of one side, that ends the tunnel. */
  readonly idleTimeoutMs: number;
  readonly messageBytesMax: number;
}

/** Called once, when both connections are closed. `failure` is null unless the service failed. */
type OnTunnelEnd = (failure: Error | null) => void;

/** The value that the runtime keeps with each client's WebSocket. */
export type GatewaySocket = Tunnel;

/**
 * A tunnel between the WebSockets of a client and of its service. The gateway forwards messages in both
 * directions, text as text and bytes as bytes. While one side reads slowly, the gateway stops reading from
 * the other side. When one side closes, the gateway forwards the close, and cuts a side that does not respond
 * in time.
 */
export class Tunnel {
  readonly #service: WebSocket;
  readonly #limits: TunnelLimits;
  readonly #onEnd: OnTunnelEnd;
  /** The messages that arrived together with the service's handshake, before the pause took effect. */
  readonly #early: (string | Buffer<ArrayBuffer>)[] = [];
  #client: Bun.ServerWebSocket<Tunnel> | null = null;
  #polling = false;
  /** The number of bytes that the client's messages had after the client was paused. */
  #bytesAfterClientPause = 0;
  /** The same number for the service. */
  #bytesAfterServicePause = 0;
  bytes_in = 0;
  bytes_out = 0;
  #ended = false;
  #failure: Error | null = null;
  readonly #silence: SilenceWatch;
  #cancelCut: () => void = () => {};
  #isServiceOpen = true;
  #isEndReported = false;

  /** @param service an open and paused WebSocket, so that no message is lost before the client is attached */
  constructor(service: WebSocket, limits: TunnelLimits, onEnd: OnTunnelEnd) {
    this.#service = service;
    this.#limits = limits;
    this.#onEnd = onEnd;
    this.#silence = new SilenceWatch(limits.idleTimeoutMs, unstalledClock, {
      client: { ping: (payload) => void this.#client?.ping(payload) },
      service: { ping: (payload) => service.ping(payload) },
      onSilence: () => this.close(GOING_AWAY, "idle"),
    });
    service.binaryType = "nodebuffer";
    service.addEventListener("message", ({ data }) => this.#fromService(data));
    service.addEventListener("ping", () => this.#servicePinged());
    service.addEventListener("pong", ({ data }) => this.#silence.ponged("service", data));
    service.addEventListener("close", ({ code, reason }) => this.#serviceClosed(code, reason));
  }

  attach(client: Bun.ServerWebSocket<Tunnel>): void {
    this.#client = client;
    if (this.#ended) {
      client.close(GOING_AWAY);
      return;
    }
    for (const message of this.#early.splice(0)) client.send(message);
    this.#service.resume();
  }

  fromClient(message: string | Buffer<ArrayBuffer>): void {
    if (this.#ended) return;
    this.#silence.received("client");
    const bytes = Buffer.byteLength(message);
    if (this.#polling) {
      // The runtime ignores a pause when it reads what a connection had received before its reset.
      if (this.#bytesAfterClientPause > READ_BYTES_MAX) {
        this.#clientWasReset();
        return;
      }
      this.#bytesAfterClientPause += bytes;
    }
    this.bytes_in += bytes;
    this.#service.send(message);
    if (this.#service.bufferedAmount > QUEUED_BYTES_MAX) this.#awaitService();
  }

  /** Resumes both sides after a slow client has caught up. A slow service keeps the client paused. */
  clientDrained(): void {
    if (this.#ended) return;
    this.#silence.progressed("client");
    this.#bytesAfterServicePause = 0;
    this.#service.resume();
    if (!this.#polling) this.#client?.resume();
  }

  clientPonged(payload: Buffer): void {
    this.#silence.ponged("client", payload);
    this.#limitPongs();
  }

  /**
   * Handles a ping of the client. The runtime responds to pings even if the client does not read, so a
   * client with a full queue is paused.
   */
  clientPinged(): void {
    this.#silence.received("client");
    this.#limitPongs();
  }

  #limitPongs(): void {
    const client = this.#client;
    if (client !== null && client.getBufferedAmount() > QUEUED_BYTES_MAX) client.pause();
  }

  clientClosed(code: number, reason: string): void {
    this.#client = null;
    if (!this.#ended) {
      this.#end(null);
      closeWith(this.#service, code, reason);
    }
    this.#reportEnd();
  }

  close(code: number, reason: string): void {
    if (this.#ended) return;
    this.#end(null);
    this.#service.close(code, reason);
    this.#client?.close(code, reason);
  }

  /** Closes the tunnel when the gateway stops, so that the client reconnects to another gateway. */
  goAway(): void {
    this.close(GOING_AWAY, "");
  }

  #clientWasReset(): void {
    this.#end(null);
    closeWith(this.#service, ABNORMAL, "");
    this.#client?.terminate();
  }

  /** Handles a ping of the service, like {@link clientPinged}. */
  #servicePinged(): void {
    this.#silence.received("service");
    if (this.#ended || this.#service.bufferedAmount <= QUEUED_BYTES_MAX) return;
    this.#service.pause();
    this.#awaitService();
  }

  #fromService(message: string | Buffer<ArrayBuffer>): void {
    if (this.#ended) return;
    this.#silence.received("service");
    const bytes = Buffer.byteLength(message);
    this.bytes_out += bytes;
    if (bytes > this.#limits.messageBytesMax) this.close(TOO_BIG, "");
    else if (this.#client === null) this.#early.push(message);
    else if (this.#bytesAfterServicePause > READ_BYTES_MAX) this.#serviceWasReset();
    else this.#toClient(this.#client, message, bytes);
  }

  #toClient(client: Bun.ServerWebSocket<Tunnel>, message: string | Buffer<ArrayBuffer>, bytes: number): void {
    if (client.send(message) >= 0) return;
    if (this.#service.isPaused) this.#bytesAfterServicePause += bytes;
    else this.#bytesAfterServicePause = 0;
    this.#service.pause();
  }

  /** Ends the tunnel like {@link #clientWasReset}. */
  #serviceWasReset(): void {
    this.#end(badGateway("The service broke off a WebSocket."));
    this.#client?.close(BAD_GATEWAY);
    this.#service.terminate();
  }

  #serviceClosed(code: number, reason: string): void {
    this.#isServiceOpen = false;
    if (!this.#ended) {
      const lost = code === ABNORMAL;
      this.#end(lost ? badGateway("The service broke off a WebSocket.") : null);
      if (this.#client !== null) closeWith(this.#client, lost ? BAD_GATEWAY : code, reason);
    }
    this.#reportEnd();
  }

  /** Pauses the client until the service has received its queued messages. */
  #awaitService(): void {
    if (this.#polling) return;
    this.#polling = true;
    this.#bytesAfterClientPause = 0;
    this.#client?.pause();
    this.#silence.paused("client", true);
    const poll = () => {
      if (this.#ended) return;
      if (this.#service.bufferedAmount > 0) return void setTimeout(poll, DRAIN_POLL_MS);
      this.#polling = false;
      this.#silence.paused("client", false);
      this.#silence.progressed("service");
      this.#client?.resume();
      if (this.#client?.getBufferedAmount() !== 0) return;
      this.#bytesAfterServicePause = 0;
      this.#service.resume();
    };
    setTimeout(poll, DRAIN_POLL_MS);
  }

  /** Stops forwarding messages, and gives both sides time to close. */
  #end(failure: Error | null): void {
    this.#ended = true;
    this.#failure = failure;
    this.#early.length = 0;
    this.#silence.end();
    // Resume reading from the service: the gateway would not see its close while reading is paused.
    this.#service.resume();
    this.#cancelCut = unstalledClock.after(CLOSE_TIMEOUT_MS, () => {
      this.#service.terminate();
      this.#client?.terminate();
    });
  }

  #reportEnd(): void {
    if (this.#isEndReported || this.#isServiceOpen || this.#client !== null) return;
    this.#isEndReported = true;
    this.#cancelCut();
    this.#onEnd(this.#failure);
  }
}

interface Closable {
  close(code?: number, reason?: string): void;
}

/**
 * Forwards a close. Some codes only describe a connection and cannot be sent: "no status" becomes a close
 * without a code, "abnormal" becomes "going away", and all others become "normal".
 */
function closeWith(side: Closable, code: number, reason: string): void {
  if (code === NO_STATUS) side.close();
  else if (isSendable(code)) side.close(code, reason);
  else side.close(code === ABNORMAL ? GOING_AWAY : NORMAL);
}

function isSendable(code: number): boolean {
  return (code >= 1000 && code <= 1014 && ![1004, NO_STATUS, ABNORMAL].includes(code)) || code >= 3000;
}
