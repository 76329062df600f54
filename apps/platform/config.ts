import {
  flag,
  optionalText,
  port,
  shutdownVariables,
  telemetryVariables,
  textOr,
  whole,
} from "@ostiary/lib/config";
import { type Static, Type } from "@sinclair/typebox";

/**
 * The variables of the quick start (contract 1). Every variable of the four services is read too, so that
 * `RATE_LIMIT_REQUESTS=5 bun start` does what it says; what is listed here decides where things are.
 */
export const platformVariables = Type.Object({
  HOST: textOr("127.0.0.1", "must be an address to bind, such as 127.0.0.1"),
  DATA_DIR: textOr(".ostiary", "must be the directory that holds the platform's data"),
  DATABASE_URL: optionalText("must be a postgres:// or pglite:// URL"),
  ROUTE_STORE_URL: textOr("memory://", "must be memory:// or the http:// URL of etcd"),
  COUNTER_STORE_URL: textOr("memory://", "must be memory:// or the redis:// URL of a server"),
  ADMIN_TOKEN: optionalText("must be the bearer token of the registry's admin API"),
  ROLES_FILE: optionalText("must be the path of a roles file"),
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
  SWAGGER_ENABLED: flag(true, "The pages of the registry, identity and audit."),
  MAX_UPSTREAM_REQUESTS: whole(65_000, 1, 65_336, "Calls of services in flight in this process."),
  ...shutdownVariables,
  ...telemetryVariables,
});

export type PlatformConfig = Readonly<Static<typeof platformVariables>>;
