import {
  bodyBytesMax,
  counterStoreUrl,
  flag,
  integer,
  isOrigin,
  listenVariables,
  listItems,
  optionalList,
  optionalText,
  requestsInFlightMax,
  routeStoreUrl,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { type Static, Type } from "@sinclair/typebox";
import { admissionVariables } from "./admission/config.ts";
import { auditVariables } from "./audit/config.ts";
import { limitVariables } from "./steps/limit.ts";

/** Every variable of the gateway (Gateway specification, Environment; contract 1 and 4). */
export const gatewayVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 5001, internal_port: 8000 }),
  REUSE_PORT: flag(
    false,
    "Lets several gateways of this machine share PORT, each with an INTERNAL_PORT of its own.",
  ),
  TLS_CERT_FILE: optionalText("must be the path of a certificate in PEM form", {
    description: "Serves PORT by TLS: the certificate, its chain after it. Read again when it changes.",
  }),
  TLS_KEY_FILE: optionalText("must be the path of a private key in PEM form", {
    description: "The key of TLS_CERT_FILE, without a passphrase; both or none.",
  }),
  ROUTE_STORE_URL: routeStoreUrl(),
  ...tlsVariables("ROUTE_STORE"),
  COUNTER_STORE_URL: counterStoreUrl(),
  ...tlsVariables("COUNTER_STORE"),
  ...admissionVariables,
  ...limitVariables,
  ...auditVariables,
  ALLOWED_ORIGINS: optionalList(
    "must be origins such as https://app.example.com, without a path and separated by commas; unset lets every origin in",
    isOrigin,
    "Origins that browsers may call from. Unset: every origin.",
  ),
  TRUSTED_PROXY_HOPS: integer(0, 0, 32, "Proxies in front that append to X-Forwarded-For."),
  FORWARD_CLIENT_ADDRESS: flag(false, "Tells services the client's address in X-Forwarded-*."),
  MAX_BODY_BYTES: bodyBytesMax(10_485_760),
  MAX_UPSTREAM_REQUESTS: integer(65_000, 1, 65_336, "Upstream calls in flight in this process."),
  UPSTREAM_TIMEOUT_MS: integer(
    30_000,
    1,
    86_400_000,
    "From the last byte sent to the first of the answer's head; then 502.",
  ),
  UPSTREAM_IDLE_TIMEOUT_MS: integer(
    60_000,
    1,
    86_400_000,
    "Between two chunks of an answer; then the client's connection is broken.",
  ),
  CLIENT_IDLE_TIMEOUT_MS: integer(
    75_000,
    1_000,
    255_000,
    "How long a connection may wait for the next request's whole head; then it is closed.",
  ),
  CLIENT_BODY_TIMEOUT_MS: integer(
    30_000,
    1,
    86_400_000,
    "Between two chunks of a request's body; then 408, or a broken connection.",
  ),
  WEBSOCKET_IDLE_TIMEOUT_MS: integer(
    300_000,
    1_000,
    86_400_000,
    "Silence in both directions after which a WebSocket is closed.",
  ),
  WEBSOCKET_MESSAGE_BYTES_MAX: integer(
    1_048_576,
    1,
    1_073_741_824,
    "A larger message closes a WebSocket with 1009.",
  ),
  MAX_REQUESTS_IN_FLIGHT: requestsInFlightMax(20_000),
  MAX_CONNECTIONS: integer(
    0,
    0,
    10_000_000,
    "Connections of clients and services together; over it idle ones are closed and requests are 503. 0: three quarters of the descriptors that the process may have.",
  ),
  MAX_MEMORY_BYTES: integer(
    0,
    0,
    Number.MAX_SAFE_INTEGER,
    "Resident memory; over it slow readers are ended and requests are 503. 0: three quarters of what the container or the machine has.",
  ),
});
export type GatewayConfig = Static<typeof gatewayVariables>;

/** The origins that browsers may call from, spelled as browsers do; empty when every origin may. */
export function allowedOrigins(config: Pick<GatewayConfig, "ALLOWED_ORIGINS">): string[] {
  return config.ALLOWED_ORIGINS === undefined ? [] : listItems(config.ALLOWED_ORIGINS).map(asSent);
}

/** Host in lower case, no default port. Only http and https have an origin that URLs know. */
function asSent(origin: string): string {
  return /^https?:/i.test(origin) ? new URL(origin).origin : origin;
}
