import { auditVariables } from "@ostiary/audit/config";
import { checkSealInterval } from "@ostiary/audit/run";
import { checkSigningKeyFile } from "@ostiary/audit/signing-keys";
import { checkOperatorStream } from "@ostiary/audit/streams/operator/config";
import { checkStreamKeyFile } from "@ostiary/audit/streams/secrets";
import { checkWitnesses } from "@ostiary/audit/witnesses";
import { demoVariables } from "@ostiary/demo/config";
import { checkIssuersFile } from "@ostiary/gateway/admission/issuers-file";
import { type GatewayConfig, gatewayVariables } from "@ostiary/gateway/config";
import { checkPeppers, identityVariables } from "@ostiary/identity/config";
import {
  type ConfigCheck,
  type ConfigProblem,
  checkPeerTls,
  configProblems,
  databaseUrl,
  type Environment,
  flag,
  host,
  internalAuthToken,
  isLoopbackAddress,
  loadConfig,
  type Program,
  routeStoreUrl,
  shutdownVariables,
  swaggerEnabled,
  telemetryVariables,
  textOr,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { checkOperatorsFile } from "@ostiary/lib/runtime/config/operators-file";
import { checkRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { portProblems, usesOf } from "@ostiary/lib/runtime/service";
import { checkBrandFile } from "@ostiary/portal/brand";
import { portalVariables } from "@ostiary/portal/config";
import { checkProviders, namesProvider } from "@ostiary/portal/providers";
import { checkWitnesses as checkPortalWitnesses } from "@ostiary/portal/witnesses";
import { registryVariables } from "@ostiary/registry/config";
import { checkOperatorProvider } from "@ostiary/registry/operators/config";
import { type Static, type TInteger, Type } from "@sinclair/typebox";
import { checkDataDirectory, STREAM_KEYS } from "./data-directory.ts";

const LOOPBACK = "127.0.0.1";

/** Declares the address of a part. Only the gateway's public port follows HOST (OP-137). */
const hostOf = (description: string) => ({ ...host(LOOPBACK), description });

/** Declares a port of a part, which has the same default as in the part alone. */
const port = (alone: TInteger, description: string) => ({ ...alone, description });

const { properties: gateway } = gatewayVariables;
const { properties: registry } = registryVariables;
const { properties: identity } = identityVariables;
const { properties: audit } = auditVariables;
const { properties: portal } = portalVariables;
const { properties: demo } = demoVariables;

/**
 * The environment variables of the quick start (OP-5). The platform also reads every variable of its parts, such as
 * `RATE_LIMIT_REQUESTS`. The variables listed here set addresses, ports and stores.
 */
export const platformVariables = Type.Object({
  HOST: hostOf("The address on which the gateway's public port listens."),
  GATEWAY_INTERNAL_HOST: hostOf("The address of the gateway's internal port."),
  REGISTRY_HOST: hostOf("The address of both ports of the registry."),
  IDENTITY_HOST: hostOf("The address of both ports of identity, which trust every caller."),
  AUDIT_HOST: hostOf("The address of both ports of audit, which trust every caller."),
  PORTAL_HOST: hostOf("The address of both ports of the portal."),
  DEMO_HOST: hostOf("The address of the sample service and of the toy identity provider."),
  DATA_DIR: textOr(".ostiary", "must be the directory that holds the platform's data", {
    description:
      "The directory of the embedded database, the tokens, the keys and the log; created if missing.",
  }),
  DATABASE_URL: Type.Optional(
    databaseUrl("The PostgreSQL database that replaces the embedded database in DATA_DIR."),
  ),
  ...tlsVariables("DATABASE"),
  ROUTE_STORE_URL: routeStoreUrl("memory://"),
  ...tlsVariables("ROUTE_STORE"),
  COUNTER_STORE_URL: { ...gateway.COUNTER_STORE_URL, default: "memory://" },
  ...tlsVariables("COUNTER_STORE"),
  ADMIN_TOKEN: Type.Optional(registry.ADMIN_TOKEN),
  INTERNAL_AUTH_TOKEN: internalAuthToken(),
  ROLES_FILE: identity.ROLES_FILE,
  GATEWAY_PORT: port(gateway.PORT, "The port that clients of the gateway call."),
  GATEWAY_INTERNAL_PORT: port(gateway.INTERNAL_PORT, "The port of the gateway's health and metrics."),
  REGISTRY_PORT: port(registry.PORT, "The port of the registry's admin API and pages."),
  REGISTRY_INTERNAL_PORT: port(registry.INTERNAL_PORT, "The port of the registry's health and metrics."),
  IDENTITY_PORT: port(identity.PORT, "The port of identity's API, which the gateway publishes."),
  IDENTITY_INTERNAL_PORT: port(
    identity.INTERNAL_PORT,
    "The port of identity's internal API, health and metrics.",
  ),
  AUDIT_PORT: port(audit.PORT, "The port of audit's API, which the gateway publishes."),
  AUDIT_INTERNAL_PORT: port(audit.INTERNAL_PORT, "The port of audit's internal API, health and metrics."),
  PORTAL_PORT: port(portal.PORT, "The port of the customer portal, which the gateway publishes at /portal."),
  PORTAL_INTERNAL_PORT: port(portal.INTERNAL_PORT, "The port of the portal's health and metrics."),
  DEMO_PORT: port(demo.PORT, "The port of the sample service."),
  DEMO_IDENTITY_PROVIDER_PORT: port(demo.IDENTITY_PROVIDER_PORT, "The port of the toy identity provider."),
  DEMO: flag(
    true,
    "false leaves out the demo identity provider, the sample service and the tour. Must be set if HOST is not a loopback address.",
  ),
  SWAGGER_ENABLED: swaggerEnabled(),
  CONSOLE_ENABLED: registry.CONSOLE_ENABLED,
  PORTAL_ENABLED: flag(
    true,
    "false leaves out the portal. Without the demo, the portal needs PORTAL_CLIENT_ID and AUTH_ISSUER, or `issuers` in PORTAL_BRAND_FILE.",
  ),
  PORTAL_CLIENT_ID: portal.PORTAL_CLIENT_ID,
  PORTAL_BRAND_FILE: portal.PORTAL_BRAND_FILE,
  MAX_UPSTREAM_REQUESTS: gateway.MAX_UPSTREAM_REQUESTS,
  ...shutdownVariables,
  ...telemetryVariables,
});

/** Describes the quick start for `--help` and for hints on misspelled variables. */
export const platformProgram: Program = {
  app: "platform",
  about:
    "The platform is all of Ostiary in one process, on embedded stores: the four services and the portal, with the demo.",
  variables: platformVariables,
  parts: [gatewayVariables, registryVariables, identityVariables, auditVariables, portalVariables],
};

export type PlatformConfig = Readonly<Static<typeof platformVariables>>;

/**
 * Reads the variables of the platform and of all its parts.
 * @throws ConfigError with every problem
 */
export function loadPlatform(env: Environment): PlatformConfig {
  return loadConfig(
    platformVariables,
    env,
    () => checkParts(env),
    checkProduction(env),
    checkDemoReach(env),
    checkPlace,
  );
}

/**
 * Placeholders for the values that the platform sets itself, so that the checks do not report them as
 * missing.
 */
const TO_BE_DECIDED = {
  DATABASE_URL: "pglite://memory",
  COUNTER_STORE_URL: "memory://",
  ADMIN_TOKEN: "to-be-decided",
  CREDENTIAL_VALIDATE_URL: "http://127.0.0.1",
  AUDIT_URL: "http://127.0.0.1",
};

/** Returns the problems that the parts find in the operator's variables, without duplicates. */
function checkParts(env: Environment): ConfigProblem[] {
  const undecided = Object.entries(TO_BE_DECIDED).filter(([name]) => !env[name] && !env[`${name}_FILE`]);
  const variables = { ...env, ...Object.fromEntries(undecided), PORT: "0", INTERNAL_PORT: "0" };
  const found = [
    ...configProblems(
      registryVariables,
      variables,
      checkRolesFile,
      checkOperatorsFile,
      checkOperatorProvider,
      checkPeerTls,
    ),
    ...configProblems(identityVariables, variables, checkRolesFile, checkPeppers, checkPeerTls),
    ...configProblems(
      auditVariables,
      variables,
      checkSigningKeyFile,
      checkStreamKeyFile,
      checkOperatorStream,
      // the platform creates the key file for streams if AUDIT_STREAM_KEY_FILE is not set
      (config) =>
        checkSealInterval({ ...config, AUDIT_STREAM_KEY_FILE: config.AUDIT_STREAM_KEY_FILE ?? STREAM_KEYS }),
      checkWitnesses,
      checkPeerTls,
    ),
    ...configProblems(gatewayVariables, variables, checkIssuersFile, checkAlone, checkPeerTls),
    ...(isPortalOff(env)
      ? []
      : configProblems(
          portalVariables,
          variables,
          checkBrandFile,
          // the demo names its own identity provider
          ...(env.DEMO === "false" ? [checkProviders] : []),
          checkPortalWitnesses,
        )),
  ];
  const texts = found.map(({ variable, message }) => `${variable} ${message}`);
  return found.filter((_, index) => texts.indexOf(texts[index] ?? "") === index);
}

/** Returns whether the variables turn the portal off. If the portal is off, its other variables are not checked. */
function isPortalOff(env: Environment): boolean {
  const { PORTAL_CLIENT_ID, PORTAL_BRAND_FILE } = env;
  const named = {
    PORTAL_CLIENT_ID: PORTAL_CLIENT_ID || undefined,
    PORTAL_BRAND_FILE: PORTAL_BRAND_FILE || undefined,
  };
  return env.PORTAL_ENABLED === "false" || (env.DEMO === "false" && !namesProvider(named));
}

/** Refuses the variable that only a gateway outside the platform supports. */
function checkAlone(config: Partial<GatewayConfig>): ConfigProblem[] {
  if (!config.REUSE_PORT) return [];
  const message = "works only for gateways that run outside the platform: remove it.";
  return [{ variable: "REUSE_PORT", message }];
}

/** The settings of an identity provider, with what each is. AUTH_ISSUERS_FILE takes their place. */
const PROVIDER = { AUTH_ISSUER: "your identity provider", AUTH_JWKS_URI: "the URL of its keys" };

/** The settings without which the platform cannot run in production, with the reason for each. */
const PRODUCTION = {
  ADMIN_TOKEN: "the token of the registry's admin API",
  INTERNAL_AUTH_TOKEN: "the token between the gateway, identity and audit",
  AUDIT_SIGNING_KEY_FILE: "the file of the key that signs the audit log, outside of the database",
};

/**
 * Requires an identity provider without the demo, and with PostgreSQL also the secrets that the platform makes itself
 * for an embedded database (OP-136).
 */
function checkProduction(env: Environment): ConfigCheck<PlatformConfig> {
  return ({ DEMO, DATABASE_URL }) => {
    if (DEMO !== false) return [];
    const provider = env.AUTH_ISSUERS_FILE ? [] : Object.entries(PROVIDER);
    const secrets =
      DATABASE_URL === undefined || isEmbeddedDatabase(DATABASE_URL) ? [] : Object.entries(PRODUCTION);
    const required = [
      ...provider.map(([variable, what]) => ({
        variable,
        message: `is required without the demo and without AUTH_ISSUERS_FILE: ${what}.`,
      })),
      ...secrets.map(([variable, reason]) => ({
        variable,
        message: `is required with PostgreSQL and without the demo: ${reason}.`,
      })),
    ];
    return required.filter(({ variable }) => !env[variable] && !env[`${variable}_FILE`]);
  };
}

function isEmbeddedDatabase(url: string): boolean {
  return url.startsWith("pglite:");
}

/**
 * Requires an explicit DEMO if HOST is not a loopback address, so that no gateway in a network trusts the toy identity
 * provider by default.
 */
function checkDemoReach(env: Environment): ConfigCheck<PlatformConfig> {
  return ({ HOST }) => {
    if (env.DEMO || HOST === undefined || isLoopbackAddress(HOST)) return [];
    const message = `is required because HOST is ${HOST}: set true to admit callers by the toy identity provider, or false.`;
    return [{ variable: "DEMO", message }];
  };
}

/**
 * Checks the data directory and the ports before anything is opened. If a platform already runs in the directory,
 * reports only that platform, because its ports are in use too.
 */
function checkPlace(config: Partial<PlatformConfig>): ConfigProblem[] {
  const running = checkDataDirectory(config);
  return running.length > 0 ? running : checkPlatformPorts(config);
}

/** Reports all ports that cannot be bound. */
function checkPlatformPorts(config: Partial<PlatformConfig>): ConfigProblem[] {
  const unused = [
    ...(config.DEMO === false ? [/^DEMO_/] : []),
    ...(config.PORTAL_ENABLED === false ? [/^PORTAL_/] : []),
  ];
  const isUsed = (variable: string) => !unused.some((names) => names.test(variable));
  const uses = Object.entries(config).flatMap(([variable, value]) =>
    variable.endsWith("_PORT") && typeof value === "number" && isUsed(variable)
      ? usesOf(variable, hostOfPort(variable, config), value)
      : [],
  );
  return portProblems(uses);
}

/** Returns the address on which the port of a variable listens. */
function hostOfPort(variable: string, config: Partial<PlatformConfig>): string | undefined {
  if (variable === "GATEWAY_PORT") return config.HOST;
  if (variable === "GATEWAY_INTERNAL_PORT") return config.GATEWAY_INTERNAL_HOST;
  const part = (["REGISTRY", "IDENTITY", "AUDIT", "PORTAL"] as const).find((name) =>
    variable.startsWith(name),
  );
  return config[`${part ?? "DEMO"}_HOST`];
}
