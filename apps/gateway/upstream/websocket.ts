import { unstalledClock } from "@ostiary/lib/async";
import { ApiError, systemErrorCode } from "@ostiary/lib/domain/errors";
import { listItems } from "@ostiary/lib/runtime/config";
import type { Exchange } from "../exchange.ts";
import { badGateway, ClientGone, failSpan } from "./call.ts";
import type { UpstreamHeaders } from "./headers.ts";
import { type GatewaySocket, Tunnel, type TunnelLimits } from "./websocket-tunnel.ts";

interface WebSocketOptions extends TunnelLimits {
  /** Origins whose pages may connect, which browsers do not check. An empty set allows all. */
  readonly origins: ReadonlySet<string>;
}

/** The handshake headers that belong to one connection, so the gateway does not forward them. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "connection",
  "te",
  "sec-websocket-key",
  "sec-websocket-version",
  "sec-websocket-extensions",
  "sec-websocket-protocol",
  "sec-websocket-accept",
]);

/**
 * Step 7 of a request for a WebSocket (GW-127). After the service accepts the WebSocket, the gateway upgrades
 * the client's connection and opens a tunnel between the two. Neither side may compress: the runtime would
 * inflate a whole message of a service before it checks the maximum size.
 */
export class WebSockets {
  readonly #options: WebSocketOptions;
  readonly #headers: UpstreamHeaders;
  readonly #tunnels = new Set<Tunnel>();
  #leaving = false;

  constructor(options: WebSocketOptions, headers: UpstreamHeaders) {
    this.#options = options;
    this.#headers = headers;
  }

  /**
   * Returns whether a request asks for a WebSocket. The gateway ignores other upgrades, as HTTP allows. It also ignores
   * an Upgrade header that Connection does not name, as HTTP requires.
   */
  static requested(request: Request): boolean {
    const { headers, method } = request;
    const upgrade = headers.get("upgrade");
    if (upgrade === null || method !== "GET" || upgrade.toLowerCase() !== "websocket") return false;
    return listItems(headers.get("connection") ?? "").some((option) => option.toLowerCase() === "upgrade");
  }

  /**
   * Opens a tunnel between client and service. Calls `onEnd` when both connections are closed.
   *
   * @throws ApiError 400 for an invalid handshake or an unlisted origin, 502 if the service does not accept
   * the WebSocket
   * @throws ClientGone if the client leaves before the tunnel is open
   */
  async open(exchange: Exchange, path: string, onEnd: (failure: Error | null) => void): Promise<void> {
    const { request, server } = exchange;
    requireHandshake(request.headers);
    requireOrigin(request.headers.get("origin"), this.#options.origins);
    exchange.forwarded = true;
    const service = await this.#dial(exchange, path);
    const tunnel = new Tunnel(service, this.#options, (failure) => {
      this.#tunnels.delete(tunnel);
      exchange.bytes_in = tunnel.bytes_in;
      exchange.bytes_out = tunnel.bytes_out;
      onEnd(failure);
    });
    const headers = new Headers({ "X-Request-ID": exchange.request_id });
    if (service.protocol !== "") headers.set("Sec-WebSocket-Protocol", service.protocol);
    // Without this deletion, the runtime would choose the first protocol that the client offers.
    else request.headers.delete("Sec-WebSocket-Protocol");
    if (!server.upgrade(request, { data: tunnel, headers })) {
      service.terminate();
      throw new ClientGone();
    }
    this.#tunnels.add(tunnel);
    if (this.#leaving) tunnel.goAway();
  }

  get tunnels(): number {
    return this.#tunnels.size;
  }

  /** Closes all tunnels, including tunnels that are still being opened, so that the gateway can stop. */
  goAway(): void {
    this.#leaving = true;
    for (const tunnel of this.#tunnels) tunnel.goAway();
  }

  handlers(): Bun.WebSocketHandler<GatewaySocket> {
    return {
      maxPayloadLength: this.#options.messageBytesMax,
      // Turn off the runtime's limits, because the tunnel pauses the faster side and closes idle connections.
      backpressureLimit: 0,
      idleTimeout: 0,
      open: (client) => client.data.attach(client),
      message: (client, message) => client.data.fromClient(message),
      drain: (client) => client.data.clientDrained(),
      sendPings: false,
      ping: (client) => client.data.clientPinged(),
      pong: (client, payload) => client.data.clientPonged(payload),
      close: (client, code, reason) => client.data.clientClosed(code, reason),
    };
  }

  async #dial(exchange: Exchange, path: string): Promise<WebSocket> {
    const { request, route, trace } = exchange;
    const url = `ws://${route.target}${path}`;
    const span = trace.recorded ? trace.call(request.method, url) : null;
    const fields = this.#headers.of(exchange, span?.traceparent ?? trace.traceparent);
    const headers: Record<string, string> = {};
    for (let index = 0; index < fields.length; index += 2) {
      const name = fields[index] ?? "";
      if (!OWN_HEADERS.has(name.replaceAll("_", "-"))) headers[name] = fields[index + 1] ?? "";
    }
    const late = new AbortController();
    const cancelTimer = unstalledClock.after(route.bounds.timeout_ms, () => late.abort());
    const onPlain = () => {
      exchange.servedPlain = true;
    };
    const handshake = { url, headers, late: late.signal, left: request.signal, onPlain };
    const protocols = listItems(request.headers.get("sec-websocket-protocol") ?? "");
    try {
      const service = await accepted({ ...handshake, protocols }).catch((failure) => {
        if (!(failure instanceof NoProtocolChosen)) throw failure;
        // The runtime fails a handshake in which the service chooses no offered protocol. Retry without an
        // offer.
        return accepted({ ...handshake, protocols: [] });
      });
      span?.responded(SWITCHING_PROTOCOLS);
      return service;
    } catch (failure) {
      failSpan(span, failure);
      throw failure;
    } finally {
      cancelTimer();
    }
  }
}

interface Handshake {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly protocols: string[];
  /** The signal that is aborted when the time for the handshake is over. */
  readonly late: AbortSignal;
  readonly left: AbortSignal;
  /** Called when the service responds to the handshake with a status from 200 to 499. */
  readonly onPlain: () => void;
}

/** The end of the runtime's message for such a response. */
const PLAIN_STATUS = /Expected 101 status code: [234]\d\d$/;

class NoProtocolChosen extends Error {}

/** Resolves with a paused WebSocket of the service when the service has accepted it. */
async function accepted({ url, headers, protocols, late, left, onPlain }: Handshake): Promise<WebSocket> {
  const service = new WebSocket(url, { headers, protocols, perMessageDeflate: false });
  service.pause();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const give = (failure: Error) => {
    reject(failure);
    service.terminate();
  };
  const onLate = () => give(badGateway("The service did not accept a WebSocket in time."));
  const onGone = () => give(new ClientGone());
  late.addEventListener("abort", onLate);
  left.addEventListener("abort", onGone);
  service.addEventListener("open", () => resolve());
  service.addEventListener("error", ({ error, message }) => {
    if (PLAIN_STATUS.test(message)) onPlain();
    const chose = !message.endsWith("Missing client protocol");
    reject(chose ? badGateway(`The service ${failureOf(error)}.`) : new NoProtocolChosen());
  });
  service.addEventListener("close", () => reject(badGateway("The service did not accept a WebSocket.")));
  try {
    await promise;
    return service;
  } finally {
    late.removeEventListener("abort", onLate);
    left.removeEventListener("abort", onGone);
  }
}

const SWITCHING_PROTOCOLS = 101;

/** Refuses a handshake that the runtime would not upgrade, so that the service is not called for it. */
function requireHandshake(headers: Headers): void {
  const key = headers.get("sec-websocket-key");
  const version = headers.get("sec-websocket-version");
  if (key !== null && /^[A-Za-z0-9+/]{22}==$/.test(key) && version === "13") return;
  throw new ApiError("INVALID_REQUEST", {
    message: "A WebSocket handshake needs Sec-WebSocket-Version 13 and a valid Sec-WebSocket-Key.",
    headers: { "Sec-WebSocket-Version": "13" },
  });
}

/** Refuses pages of unlisted origins. Requests without an Origin do not come from pages and are admitted. */
function requireOrigin(origin: string | null, origins: ReadonlySet<string>): void {
  if (origin === null || origins.size === 0 || origins.has(origin)) return;
  throw new ApiError("INVALID_REQUEST", { message: "Pages of this origin may not open a WebSocket here." });
}

function failureOf(error: unknown): string {
  const code = systemErrorCode(error);
  return code !== null ? `could not be reached: ${code}` : "did not accept a WebSocket";
}
