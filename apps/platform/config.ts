import { gatewayVariables } from "@ostiary/gateway/config";
import { identityVariables } from "@ostiary/identity/config";
import {
  adminToken,
  counterStoreUrl,
  databaseUrl,
  flag,
  host,
  loadConfig,
  port,
  routeStoreUrl,
  shutdownVariables,
  swaggerEnabled,
  telemetryVariables,
  textOr,
} from "@ostiary/lib/runtime/config";
import { type Static, Type } from "@sinclair/typebox";
import { checkParts, type Environment } from "./parts.ts";
import { checkPlatformPorts } from "./ports.ts";

/**
 * The variables of the quick start (contract 1). Every variable of the four services is read too, so that
 * `RATE_LIMIT_REQUESTS=5 bun start` does what it says; what is listed here decides where things are.
 */
export const platformVariables = Type.Object({
  HOST: host("127.0.0.1"),
  DATA_DIR: textOr(".ostiary", "must be the directory that holds the platform's data"),
  DATABASE_URL: Type.Optional(databaseUrl()),
  ROUTE_STORE_URL: routeStoreUrl("memory://"),
  COUNTER_STORE_URL: counterStoreUrl("memory://"),
  ADMIN_TOKEN: Type.Optional(adminToken()),
  ROLES_FILE: identityVariables.properties.ROLES_FILE,
  GATEWAY_PORT: port(5001),
  GATEWAY_INTERNAL_PORT: port(8000),
  REGISTRY_PORT: port(5002),
  REGISTRY_INTERNAL_PORT: port(5003),
  IDENTITY_PORT: port(3000),
  IDENTITY_INTERNAL_PORT: port(3001),
  AUDIT_PORT: port(3002),
  AUDIT_INTERNAL_PORT: port(3003),
  DEMO_PORT: port(4000),
  DEMO_IDENTITY_PROVIDER_PORT: port(4001),
  DEMO: flag(true, "false leaves out the demo identity provider, the sample service and the tour."),
  SWAGGER_ENABLED: swaggerEnabled(),
  MAX_UPSTREAM_REQUESTS: gatewayVariables.properties.MAX_UPSTREAM_REQUESTS,
  ...shutdownVariables,
  ...telemetryVariables,
});

export type PlatformConfig = Readonly<Static<typeof platformVariables>>;

/** Reads the variables of the platform and of all its parts. Throws `ConfigError` with every problem. */
export function loadPlatform(env: Environment): PlatformConfig {
  return loadConfig(platformVariables, env, () => checkParts(env), checkPlatformPorts);
}
