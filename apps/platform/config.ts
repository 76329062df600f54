import { checkSigningKeyFile } from "@ostiary/audit/checkpoints/signing-key";
import { auditVariables } from "@ostiary/audit/config";
import { type GatewayConfig, gatewayVariables } from "@ostiary/gateway/config";
import { checkPeppers, identityVariables } from "@ostiary/identity/config";
import {
  adminToken,
  type ConfigProblem,
  checkPeerTls,
  configProblems,
  consoleEnabled,
  counterStoreUrl,
  databaseUrl,
  type Environment,
  flag,
  host,
  internalAuthToken,
  loadConfig,
  port,
  routeStoreUrl,
  shutdownVariables,
  swaggerEnabled,
  telemetryVariables,
  textOr,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { checkRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { portProblems, usesOf } from "@ostiary/lib/runtime/service";
import { registryVariables } from "@ostiary/registry/config";
import { type Static, Type } from "@sinclair/typebox";

/**
 * The variables of the quick start (contract 1). Every variable of the four services is read too, so that
 * `RATE_LIMIT_REQUESTS=5 bun start` does what it says; what is listed here decides where things are.
 */
export const platformVariables = Type.Object({
  HOST: host("127.0.0.1"),
  DATA_DIR: textOr(".ostiary", "must be the directory that holds the platform's data", {
    description:
      "The embedded database, the admin token, the signing key and the log; made when it is missing.",
  }),
  DATABASE_URL: Type.Optional(databaseUrl("PostgreSQL in place of the embedded database in DATA_DIR.")),
  ...tlsVariables("DATABASE"),
  ROUTE_STORE_URL: routeStoreUrl("memory://"),
  ...tlsVariables("ROUTE_STORE"),
  COUNTER_STORE_URL: counterStoreUrl("memory://"),
  ...tlsVariables("COUNTER_STORE"),
  ADMIN_TOKEN: Type.Optional(adminToken()),
  INTERNAL_AUTH_TOKEN: internalAuthToken(),
  ROLES_FILE: identityVariables.properties.ROLES_FILE,
  GATEWAY_PORT: port(5001, "What clients of the gateway call."),
  GATEWAY_INTERNAL_PORT: port(8000, "The gateway's health and metrics."),
  REGISTRY_PORT: port(5002, "The registry's admin API and pages."),
  REGISTRY_INTERNAL_PORT: port(5003, "The registry's health and metrics."),
  IDENTITY_PORT: port(3000, "Identity's API, which the gateway publishes."),
  IDENTITY_INTERNAL_PORT: port(3001, "Identity's internal API, health and metrics."),
  AUDIT_PORT: port(3002, "Audit's API, which the gateway publishes."),
  AUDIT_INTERNAL_PORT: port(3003, "Audit's internal API, health and metrics."),
  DEMO_PORT: port(4000, "The sample service."),
  DEMO_IDENTITY_PROVIDER_PORT: port(4001, "The toy identity provider."),
  DEMO: flag(true, "false leaves out the demo identity provider, the sample service and the tour."),
  SWAGGER_ENABLED: swaggerEnabled(),
  CONSOLE_ENABLED: consoleEnabled(),
  MAX_UPSTREAM_REQUESTS: gatewayVariables.properties.MAX_UPSTREAM_REQUESTS,
  ...shutdownVariables,
  ...telemetryVariables,
});

export type PlatformConfig = Readonly<Static<typeof platformVariables>>;

/** Reads the variables of the platform and of all its parts. Throws `ConfigError` with every problem. */
export function loadPlatform(env: Environment): PlatformConfig {
  return loadConfig(platformVariables, env, () => checkParts(env), checkPlatformPorts);
}

/** In place of what the platform decides, until it has: a part must not miss what its operator need not give. */
const TO_BE_DECIDED = {
  DATABASE_URL: "pglite://memory",
  COUNTER_STORE_URL: "memory://",
  ADMIN_TOKEN: "to-be-decided",
  CREDENTIAL_VALIDATE_URL: "http://127.0.0.1",
  AUDIT_URL: "http://127.0.0.1",
};

/** What the four services would refuse of the operator's variables, each problem once. */
function checkParts(env: Environment): ConfigProblem[] {
  const undecided = Object.entries(TO_BE_DECIDED).filter(([name]) => !env[name] && !env[`${name}_FILE`]);
  const variables = { ...env, ...Object.fromEntries(undecided), PORT: "0", INTERNAL_PORT: "0" };
  const found = [
    ...configProblems(registryVariables, variables, checkRolesFile, checkPeerTls),
    ...configProblems(identityVariables, variables, checkRolesFile, checkPeppers, checkPeerTls),
    ...configProblems(auditVariables, variables, checkSigningKeyFile, checkPeerTls),
    ...configProblems(gatewayVariables, variables, checkAlone, checkPeerTls),
  ];
  const texts = found.map(({ variable, message }) => `${variable} ${message}`);
  return found.filter((_, index) => texts.indexOf(texts[index] ?? "") === index);
}

/** What only a gateway that runs alone can do. */
function checkAlone(config: Partial<GatewayConfig>): ConfigProblem[] {
  const { REUSE_PORT, TLS_CERT_FILE, TLS_KEY_FILE } = config;
  const given = { REUSE_PORT, TLS_CERT_FILE, TLS_KEY_FILE };
  const alone = Object.entries(given).filter(([, value]) => value !== undefined && value !== false);
  return alone.map(([variable]) => ({
    variable,
    message: "is for gateways that run alone, not for the platform.",
  }));
}

/** Ports that can't be bound, all at once and before anything is opened. */
function checkPlatformPorts(config: Partial<PlatformConfig>): ConfigProblem[] {
  const unused = config.DEMO === false ? /^DEMO_/ : /^$/;
  const uses = Object.entries(config).flatMap(([variable, value]) =>
    variable.endsWith("_PORT") && typeof value === "number" && !unused.test(variable)
      ? usesOf(variable, config.HOST, value)
      : [],
  );
  return portProblems(uses);
}
