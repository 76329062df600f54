import { systemClock } from "@ostiary/lib/async";
import type { CompiledRoute, RouteMatch } from "@ostiary/lib/domain/routes";
import type { RequestTrace, Tracing } from "@ostiary/lib/runtime/telemetry";
import type { Principal } from "./admission/principal.ts";
import type { ClientAddresses } from "./edge/client-address.ts";
import type { RateState } from "./steps/limit.ts";
import type { UpstreamCall } from "./upstream/call.ts";
import type { GatewaySocket } from "./upstream/websocket-tunnel.ts";

/** One request on its way through the steps, with the results of each step. */
export class Exchange {
  readonly request: Request;
  readonly server: Bun.Server<GatewaySocket>;
  /** The id of the request, sent as X-Request-ID. The client's own X-Request-ID is never used (GW-83). */
  readonly request_id = Bun.randomUUIDv7();
  readonly receivedAtMs = systemClock.now();
  readonly started = systemClock.elapsedMs();
  readonly trace: RequestTrace;
  match: RouteMatch | null = null;
  principal: Principal | null = null;
  /** The number of responses about changed admissions before the caller was admitted. */
  knownChanges = 0;
  rate: RateState | null = null;
  isShared = false;
  call: UpstreamCall | null = null;
  /** Whether the intent is stored and its outcome is not queued yet. */
  intentRecorded = false;
  /** The client's X-API-Key, or null without the header. */
  readonly credential: string | null;
  readonly origin: string | null;
  /** Whether the request has no body or its body was read to the end. */
  bodyComplete: boolean;
  forwarded = false;
  /** Whether the service responded to the handshake of a WebSocket as to a plain request, with a status below 500. */
  servedPlain = false;
  bytes_in = 0;
  bytes_out = 0;
  readonly #addresses: ClientAddresses;
  #socketAddress: string | null = null;

  constructor(
    request: Request,
    server: Bun.Server<GatewaySocket>,
    addresses: ClientAddresses,
    tracing: Tracing,
  ) {
    this.request = request;
    this.server = server;
    this.#addresses = addresses;
    const { headers } = request;
    this.credential = headers.get("x-api-key");
    this.origin = headers.get("origin");
    this.bodyComplete = !announcesBody(headers);
    const traceparent = headers.get("traceparent");
    // Without a traceparent, tracestate has no meaning.
    const tracestate = traceparent === null ? null : headers.get("tracestate");
    this.trace = tracing.start(request.method, traceparent, tracestate, this.request_id);
  }

  get route(): CompiledRoute {
    if (this.match === null) throw new Error("The request has not been matched yet.");
    return this.match.route;
  }

  /** Whether the service may have received a part of the request. */
  get reachedService(): boolean {
    return this.forwarded && this.call?.reached !== false;
  }

  /** The address of the connection's peer: the client, or a proxy in front of the gateway. */
  get socketAddress(): string {
    this.#socketAddress ??= this.#addresses.peerOf(this.server.requestIP(this.request));
    return this.#socketAddress;
  }

  get ip(): string {
    return this.#addresses.clientOf(this.request.headers, this.socketAddress);
  }
}

function announcesBody(headers: Headers): boolean {
  const length = headers.get("content-length");
  return (length !== null && length !== "0") || headers.has("transfer-encoding");
}
