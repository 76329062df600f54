import { ApiError, errorCode } from "@ostiary/lib/domain/errors";
import type { Exchange } from "../exchange.ts";
import { badGateway, ClientGone } from "./call.ts";
import { beginSpan, failSpan } from "./call-span.ts";
import type { UpstreamHeaders } from "./headers.ts";
import { type GatewaySocket, Tunnel, type TunnelLimits } from "./websocket-tunnel.ts";

export interface WebSocketOptions extends TunnelLimits {
  /** For the service to accept. */
  readonly timeout_ms: number;
  /** Whose pages may connect, since browsers leave that to servers; empty: everybody's. */
  readonly origins: ReadonlySet<string>;
}

/** Of the handshake, which each side has for itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "sec-websocket-key",
  "sec-websocket-version",
  "sec-websocket-extensions",
  "sec-websocket-protocol",
  "sec-websocket-accept",
]);

/**
 * Step 7 of a request that asks for a WebSocket (beyond the specification): the service accepts first, then the
 * client's connection is upgraded and the two are joined. Compression is negotiated on each side by itself.
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

  /** Whether a request asks for a WebSocket; other upgrades are ignored, as HTTP allows. */
  static requested(request: Request): boolean {
    const upgrade = request.headers.get("upgrade");
    return upgrade !== null && request.method === "GET" && upgrade.toLowerCase() === "websocket";
  }

  /**
   * Joins client and service. `onEnd` is told when both sides are closed.
   *
   * @throws ApiError 400 for a handshake that is not one or of an unlisted origin, 502 when the service does not accept; ClientGone
   */
  async open(exchange: Exchange, path: string, onEnd: (failure: Error | null) => void): Promise<void> {
    const { request, server } = exchange;
    requireHandshake(request.headers);
    requireOrigin(request.headers.get("origin"), this.#options.origins);
    exchange.forwarded = true;
    const service = await this.#dial(exchange, path);
    const tunnel = new Tunnel(service, this.#options, (failure) => {
      this.#tunnels.delete(tunnel);
      onEnd(failure);
    });
    const headers = new Headers({ "X-Request-ID": exchange.request_id });
    if (service.protocol !== "") headers.set("Sec-WebSocket-Protocol", service.protocol);
    if (!server.upgrade(request, { data: tunnel, headers })) {
      service.terminate();
      throw new ClientGone();
    }
    this.#tunnels.add(tunnel);
    if (this.#leaving) tunnel.goAway();
  }

  /** How many are open. */
  get tunnels(): number {
    return this.#tunnels.size;
  }

  /** Closes all, and those that were still being opened, so that the gateway can stop. */
  goAway(): void {
    this.#leaving = true;
    for (const tunnel of this.#tunnels) tunnel.goAway();
  }

  /** What the runtime calls for clients' WebSockets. */
  handlers(): Bun.WebSocketHandler<GatewaySocket> {
    return {
      maxPayloadLength: this.#options.message_bytes_max,
      // the tunnel watches both: it pauses whoever sends too fast, and knows silence in both directions
      backpressureLimit: 0,
      idleTimeout: 0,
      open: (client) => client.data.attach(client),
      message: (client, message) => client.data.fromClient(message),
      drain: (client) => client.data.clientDrained(),
      ping: (client) => client.data.clientAlive(),
      pong: (client) => client.data.clientAlive(),
      close: (client, code, reason) => client.data.clientClosed(code, reason),
    };
  }

  /** The service's WebSocket, open and paused. */
  async #dial(exchange: Exchange, path: string): Promise<WebSocket> {
    const { request, route } = exchange;
    // a copy: the runtime reads the handshake in those of the request
    const headers = new Headers(request.headers);
    this.#headers.prepare(headers, exchange);
    for (const name of request.headers.keys()) {
      if (OWN_HEADERS.has(name.replaceAll("_", "-"))) headers.delete(name);
    }
    const span = beginSpan(exchange, headers, `ws://${route.target}${path}`);
    const protocols = listed(request.headers.get("sec-websocket-protocol"));
    const service = new WebSocket(`ws://${route.target}${path}`, { headers: headers.toJSON(), protocols });
    service.pause();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const give = (failure: Error) => {
      reject(failure);
      service.terminate();
    };
    const timer = setTimeout(
      () => give(badGateway("The service did not accept a WebSocket in time.")),
      this.#options.timeout_ms,
    );
    const onGone = () => give(new ClientGone());
    request.signal.addEventListener("abort", onGone);
    service.addEventListener("open", () => resolve());
    service.addEventListener("error", ({ error }) => reject(badGateway(`The service ${faultOf(error)}.`)));
    service.addEventListener("close", () => reject(badGateway("The service did not accept a WebSocket.")));
    try {
      await promise;
      span?.answered(SWITCHING_PROTOCOLS);
      return service;
    } catch (failure) {
      failSpan(span, failure);
      throw failure;
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener("abort", onGone);
    }
  }
}

const SWITCHING_PROTOCOLS = 101;

/** Only a handshake that the runtime will upgrade may reach a service. */
function requireHandshake(headers: Headers): void {
  const key = headers.get("sec-websocket-key");
  const version = headers.get("sec-websocket-version");
  if (key !== null && /^[A-Za-z0-9+/]{22}==$/.test(key) && version === "13") return;
  throw new ApiError("INVALID_REQUEST", {
    message: "A WebSocket handshake needs Sec-WebSocket-Version 13 and a valid Sec-WebSocket-Key.",
    headers: { "Sec-WebSocket-Version": "13" },
  });
}

/** Programs send none: only a browser says on whose page it is. */
function requireOrigin(origin: string | null, origins: ReadonlySet<string>): void {
  if (origin === null || origins.size === 0 || origins.has(origin)) return;
  throw new ApiError("INVALID_REQUEST", { message: "Pages of this origin may not open a WebSocket here." });
}

function listed(value: string | null): string[] {
  return (value ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function faultOf(error: unknown): string {
  const code = errorCode(error);
  return code !== null ? `could not be reached: ${code}` : "did not accept a WebSocket";
}
