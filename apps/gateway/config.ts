import {
  type ConfigProblem,
  flag,
  listenVariables,
  optionalText,
  text,
  textOr,
  whole,
} from "@ostiary/lib/config";
import { type Static, Type } from "@sinclair/typebox";
import { admissionVariables } from "./admission/config.ts";
import { auditVariables, checkAudit } from "./audit/config.ts";
import { limitVariables } from "./limit.ts";

/** Every variable of the gateway (Gateway specification, Environment; contract 1 and 4). */
export const gatewayVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 5001, internal_port: 8000 }),
  ROUTE_STORE_URL: textOr("http://localhost:2379", "must be http://host:port, several separated by commas", {
    description: "The route store. The gateway does not start while it can not be reached.",
  }),
  COUNTER_STORE_URL: text("must be redis://…, rediss://…, redis+cluster://… or memory://", {
    description: "Rate-limit counters, shared by all replicas.",
    pattern: "^(redis|rediss|redis\\+cluster|memory)://",
  }),
  ...admissionVariables,
  ...limitVariables,
  ...auditVariables,
  ALLOWED_ORIGINS: optionalText("must be origins such as https://app.example.com, separated by commas", {
    description: "Origins that browsers may call from. Unset: every origin.",
  }),
  TRUSTED_PROXY_HOPS: whole(0, 0, 32, "Proxies in front that append to X-Forwarded-For."),
  FORWARD_CLIENT_ADDRESS: flag(false, "Tells services the client's address in X-Forwarded-*."),
  MAX_BODY_BYTES: whole(10_485_760, 0, Number.MAX_SAFE_INTEGER, "Largest request body; 0 is no limit."),
  MAX_UPSTREAM_REQUESTS: whole(65_000, 1, 65_336, "Upstream calls in flight in this process."),
  UPSTREAM_TIMEOUT_MS: whole(30_000, 1, 86_400_000, "How long a service may take to begin its response."),
  UPSTREAM_IDLE_TIMEOUT_MS: whole(
    60_000,
    1,
    86_400_000,
    "How long a service may pause within a response that has begun.",
  ),
  CLIENT_IDLE_TIMEOUT_MS: whole(75_000, 1_000, 255_000, "How long a connection may wait for a request."),
  CLIENT_BODY_TIMEOUT_MS: whole(30_000, 1, 86_400_000, "How long a request may pause within its body."),
  WEBSOCKET_IDLE_TIMEOUT_MS: whole(300_000, 1_000, 86_400_000, "Silence after which a WebSocket is closed."),
  WEBSOCKET_MESSAGE_BYTES_MAX: whole(1_048_576, 1, 1_073_741_824, "Largest message of a WebSocket."),
});
export type GatewayConfig = Static<typeof gatewayVariables>;

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/i;

/** Rules over several variables, or inside lists; passed to `loadConfig`. */
export function checkGateway(config: GatewayConfig): ConfigProblem[] {
  const problems = checkAudit(config);
  if (!allowedOrigins(config).every((origin) => ORIGIN.test(origin))) {
    problems.push({
      variable: "ALLOWED_ORIGINS",
      message: "must be origins such as https://app.example.com, separated by commas.",
    });
  }
  return problems;
}

/** The origins that browsers may call from; empty when every origin may. */
export function allowedOrigins(config: Pick<GatewayConfig, "ALLOWED_ORIGINS">): string[] {
  return (config.ALLOWED_ORIGINS ?? "")
    .split(",")
    .map((origin) => origin.trim())
    .filter((origin) => origin !== "");
}
