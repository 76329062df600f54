import { type CallBounds, DEFAULT_CALL_BOUNDS } from "@ostiary/lib/domain/routes";
import {
  bodyBytesMax,
  flag,
  integer,
  isCounterStoreUrl,
  isOrigin,
  listenVariables,
  listItems,
  optionalList,
  type Program,
  requestsInFlightMax,
  requiredText,
  routeStoreUrl,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { type Static, Type } from "@sinclair/typebox";
import { admissionVariables } from "./admission/config.ts";
import { auditVariables } from "./audit/config.ts";
import { limitVariables } from "./steps/limit.ts";

export const gatewayVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 5001, internal_port: 8000 }),
  REUSE_PORT: flag(
    false,
    "Lets several gateways of this machine share PORT, each with its own INTERNAL_PORT.",
  ),
  ROUTE_STORE_URL: routeStoreUrl(),
  ...tlsVariables("ROUTE_STORE"),
  COUNTER_STORE_URL: requiredText(
    "must be redis://host:port, rediss://host:port, redis+cluster://host:port,host:port, rediss+cluster://host:port,host:port or memory://",
    {
      check: isCounterStoreUrl,
      secret: true,
      description:
        "The Redis with the rate-limit counters of all replicas. With memory://, each process has its own counters.",
    },
  ),
  ...tlsVariables("COUNTER_STORE"),
  ...admissionVariables,
  ...limitVariables,
  ...auditVariables,
  ALLOWED_ORIGINS: optionalList(
    "must be origins without a path, separated by commas, such as https://app.example.com; unset allows every origin",
    isOrigin,
    "Origins that browsers may call from. Unset: every origin.",
  ),
  TRUSTED_PROXY_HOPS: integer(
    { default: 0, min: 0, max: 32 },
    "The number of trusted proxies in front of the gateway that append to X-Forwarded-For.",
  ),
  FORWARD_CLIENT_ADDRESS: flag(false, "Sends the client's address to services in X-Forwarded-* headers."),
  MAX_BODY_BYTES: bodyBytesMax(DEFAULT_CALL_BOUNDS.max_body_bytes),
  MAX_UPSTREAM_REQUESTS: integer(
    { default: 65_000, min: 1, max: 65_336 },
    "The maximum number of upstream calls in flight in this process.",
  ),
  UPSTREAM_CLIENT: Type.Union([Type.Literal("pool"), Type.Literal("fetch")], {
    default: "pool",
    rule: "must be pool or fetch",
    description: "The client that calls services: the gateway's own connection pool, or the runtime's fetch.",
  }),
  UPSTREAM_IDLE_CONNECTIONS: integer(
    { default: 256, min: 0, max: 65_000 },
    "The maximum number of idle connections that the gateway keeps to each service.",
  ),
  UPSTREAM_KEEP_ALIVE_MS: integer(
    { default: 55_000, min: 0, max: 3_600_000 },
    "How long the gateway keeps an idle connection to a service, unless the service announces less.",
  ),
  UPSTREAM_CONNECTION_MAX_AGE_MS: integer(
    { default: 60_000, min: 1, max: 86_400_000 },
    "The age after which the gateway does not reuse a connection to a service, and so follows a changed address.",
  ),
  UPSTREAM_CONNECT_TIMEOUT_MS: integer(
    { default: 5_000, min: 1, max: 86_400_000 },
    "How long a request waits for a connection to its service, before it is 502.",
  ),
  UPSTREAM_TIMEOUT_MS: integer(
    { default: DEFAULT_CALL_BOUNDS.timeout_ms, min: 1, max: 86_400_000 },
    "The maximum time from the last byte sent to the first byte of the response, before the request is 502.",
  ),
  UPSTREAM_IDLE_TIMEOUT_MS: integer(
    { default: DEFAULT_CALL_BOUNDS.idleTimeoutMs, min: 1, max: 86_400_000 },
    "The maximum time between two chunks of a response, before the gateway closes the client's connection.",
  ),
  CLIENT_IDLE_TIMEOUT_MS: integer(
    { default: 75_000, min: 1_000, max: 255_000 },
    "How long a client's connection waits for the complete head of a request, before the gateway closes it.",
  ),
  CLIENT_BODY_TIMEOUT_MS: integer(
    { default: 30_000, min: 1, max: 86_400_000 },
    "The maximum time between two chunks of a request's body, before it is 408 or the connection is closed.",
  ),
  WEBSOCKET_IDLE_TIMEOUT_MS: integer(
    { default: 300_000, min: 1_000, max: 86_400_000 },
    "The time without data, or without the response to a ping, after which the gateway closes a WebSocket.",
  ),
  WEBSOCKET_MESSAGE_BYTES_MAX: integer(
    { default: 1_048_576, min: 1, max: 1_073_741_824 },
    "The maximum size of a WebSocket message. A larger one closes the WebSocket with code 1009.",
  ),
  MAX_REQUESTS_IN_FLIGHT: requestsInFlightMax(20_000),
  MAX_CONNECTIONS: integer(
    { default: 0, min: 0, max: 10_000_000 },
    "The maximum number of connections to clients and services together. Beyond it, the gateway closes idle connections and responds with 503. 0 means three quarters of the file descriptors.",
  ),
  MAX_MEMORY_BYTES: integer(
    { default: 0, min: 0, max: Number.MAX_SAFE_INTEGER },
    "The maximum resident memory. Beyond it, the gateway cuts off slow readers and responds with 503. 0 means three quarters of the memory of the container or the machine.",
  ),
});

export const gatewayProgram: Program = {
  app: "gateway",
  about:
    "The gateway stands between clients and your services: it matches each request to a published route, authenticates the caller, counts and authorizes the request.",
  variables: gatewayVariables,
};
export type GatewayConfig = Static<typeof gatewayVariables>;

/**
 * Returns the origins that browsers may call from, spelled as browsers send them. An empty list allows every
 * origin.
 */
export function allowedOrigins(config: Pick<GatewayConfig, "ALLOWED_ORIGINS">): string[] {
  return config.ALLOWED_ORIGINS === undefined ? [] : listItems(config.ALLOWED_ORIGINS).map(asSent);
}

/**
 * Returns an http or https origin with its host in lower case and without a default port. Returns any other
 * origin unchanged, because `URL` reports no origin for it.
 */
function asSent(origin: string): string {
  return /^https?:/i.test(origin) ? new URL(origin).origin : origin;
}

export function callBounds(config: GatewayConfig): CallBounds {
  return {
    timeout_ms: config.UPSTREAM_TIMEOUT_MS,
    idleTimeoutMs: config.UPSTREAM_IDLE_TIMEOUT_MS,
    max_body_bytes: config.MAX_BODY_BYTES,
  };
}
