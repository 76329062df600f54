import { badGateway } from "./call.ts";

/** What waits in front of a peer before the other one is no longer read. */
const QUEUED_BYTES_MAX = 262_144;
/** How often a service that is slow to read is looked at: the runtime does not say when it has caught up. */
const DRAIN_POLL_MS = 5;

const NORMAL = 1000;
const GOING_AWAY = 1001;
const NO_STATUS = 1005;
const ABNORMAL = 1006;
const TOO_BIG = 1009;
const BAD_GATEWAY = 1014;

export interface TunnelLimits {
  /** Silence in both directions after which the tunnel is closed. */
  readonly idle_timeout_ms: number;
  /** Largest message, either way. */
  readonly message_bytes_max: number;
}

/** Told once, when both sides are closed; the failure is the service's. */
export type OnTunnelEnd = (failure: Error | null) => void;

/** What the runtime keeps with each client's WebSocket. */
export type GatewaySocket = Tunnel;

/**
 * A client's WebSocket and the one to its service. What one sends the other gets, text as text and bytes as
 * bytes; a side that is slow to read stops the other side from being read. When one closes, so does the other,
 * with the same code.
 */
export class Tunnel {
  readonly #service: WebSocket;
  readonly #limits: TunnelLimits;
  readonly #onEnd: OnTunnelEnd;
  readonly #idle: ReturnType<typeof setTimeout>;
  /** What came with the service's acceptance, before the pause took hold. */
  readonly #early: (string | Buffer<ArrayBuffer>)[] = [];
  #client: Bun.ServerWebSocket<Tunnel> | null = null;
  #polling = false;
  #ended = false;

  /** @param service open, and paused: nothing it sends may be lost before the client is there */
  constructor(service: WebSocket, limits: TunnelLimits, onEnd: OnTunnelEnd) {
    this.#service = service;
    this.#limits = limits;
    this.#onEnd = onEnd;
    this.#idle = setTimeout(() => this.close(GOING_AWAY, "idle"), limits.idle_timeout_ms);
    service.binaryType = "nodebuffer";
    service.addEventListener("message", ({ data }) => this.#fromService(data));
    service.addEventListener("ping", () => this.#idle.refresh());
    service.addEventListener("pong", () => this.#idle.refresh());
    service.addEventListener("close", ({ code, reason }) => this.#serviceClosed(code, reason));
  }

  /** The client's side is open. */
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
    this.#idle.refresh();
    if (this.#ended) return;
    this.#service.send(message);
    if (this.#service.bufferedAmount > QUEUED_BYTES_MAX) this.#awaitService();
  }

  /** The client, slow to read until now, has caught up. */
  clientDrained(): void {
    if (!this.#ended) this.#service.resume();
  }

  /** A ping or pong of the client. */
  clientAlive(): void {
    this.#idle.refresh();
  }

  clientClosed(code: number, reason: string): void {
    if (this.#ended) return;
    closeWith(this.#service, code, reason);
    this.#end(null);
  }

  /** Closes both sides. */
  close(code: number, reason: string): void {
    if (this.#ended) return;
    this.#service.close(code, reason);
    this.#client?.close(code, reason);
    this.#end(null);
  }

  /** The gateway stops: clients are to come back elsewhere. */
  goAway(): void {
    this.close(GOING_AWAY, "");
  }

  #fromService(message: string | Buffer<ArrayBuffer>): void {
    this.#idle.refresh();
    if (this.#ended) return;
    if (Buffer.byteLength(message) > this.#limits.message_bytes_max) this.close(TOO_BIG, "");
    else if (this.#client === null) this.#early.push(message);
    else if (this.#client.send(message) < 0) this.#service.pause();
  }

  #serviceClosed(code: number, reason: string): void {
    if (this.#ended) return;
    const lost = code === ABNORMAL;
    if (this.#client !== null) closeWith(this.#client, lost ? BAD_GATEWAY : code, reason);
    this.#end(lost ? badGateway("The service broke off a WebSocket.") : null);
  }

  /** Reads no more from the client until the service has taken what is queued for it. */
  #awaitService(): void {
    if (this.#polling) return;
    this.#polling = true;
    this.#client?.pause();
    const poll = () => {
      if (this.#ended) return;
      if (this.#service.bufferedAmount > 0) return void setTimeout(poll, DRAIN_POLL_MS);
      this.#polling = false;
      this.#client?.resume();
    };
    setTimeout(poll, DRAIN_POLL_MS);
  }

  #end(failure: Error | null): void {
    this.#ended = true;
    clearTimeout(this.#idle);
    this.#onEnd(failure);
  }
}

interface Closable {
  close(code?: number, reason?: string): void;
}

/** Passes a close on. Codes that only describe a connection can not be sent: no code, or normal, stands for them. */
function closeWith(side: Closable, code: number, reason: string): void {
  if (code === NO_STATUS) side.close();
  else if (isSendable(code)) side.close(code, reason);
  else side.close(code === ABNORMAL ? GOING_AWAY : NORMAL);
}

function isSendable(code: number): boolean {
  return (code >= 1000 && code <= 1014 && ![1004, NO_STATUS, ABNORMAL].includes(code)) || code >= 3000;
}
