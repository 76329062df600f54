import type { CompiledRoute, RouteMatch } from "@ostiary/lib/domain/routes";
import type { RequestTrace, Tracing } from "@ostiary/lib/runtime/telemetry";
import type { Principal } from "./admission/principal.ts";
import { type ClientAddresses, socketAddress } from "./edge/address.ts";
import type { RateState } from "./steps/limit.ts";
import type { UpstreamCall } from "./upstream/call.ts";
import type { GatewaySocket } from "./upstream/websocket-tunnel.ts";

/** One request on its way through the steps, and what each step has found out. */
export class Exchange {
  readonly request: Request;
  readonly server: Bun.Server<GatewaySocket>;
  /** X-Request-ID: always new (contract 4, Headers). */
  readonly request_id = Bun.randomUUIDv7();
  readonly received_at_ms = Date.now();
  readonly started = performance.now();
  readonly trace: RequestTrace;
  match: RouteMatch | null = null;
  principal: Principal | null = null;
  rate: RateState | null = null;
  /** Of the service, while something of its answer may still come. */
  call: UpstreamCall | null = null;
  /** The audit service holds this request's intent, and waits for its outcome. */
  intent_recorded = false;
  /** X-API-Key, and Origin: read at once, since what the service gets is made of the request's own headers. */
  readonly credential: string | null;
  readonly origin: string | null;
  /** The whole body of the request has been read, or there is none. */
  body_complete: boolean;
  /** The service has been called, or may have been. */
  forwarded = false;
  readonly #addresses: ClientAddresses;
  #socket_address: string | null = null;

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
    this.body_complete = !announcesBody(headers);
    const traceparent = headers.get("traceparent");
    // means nothing without the other
    const tracestate = traceparent === null ? null : headers.get("tracestate");
    this.trace = tracing.start(request.method, traceparent, tracestate, this.request_id);
  }

  /** The route, for steps after the match. */
  get route(): CompiledRoute {
    if (this.match === null) throw new Error("The request has not been matched yet.");
    return this.match.route;
  }

  /** The peer of the connection. */
  get socket_address(): string {
    this.#socket_address ??= socketAddress(this.server.requestIP(this.request));
    return this.#socket_address;
  }

  /** The client's address as limits and audit events know it. */
  get ip(): string {
    return this.#addresses.clientOf(this.request.headers, this.socket_address);
  }
}

function announcesBody(headers: Headers): boolean {
  const length = headers.get("content-length");
  return (length !== null && length !== "0") || headers.has("transfer-encoding");
}
