import { wireAudit } from "@ostiary/audit";
import { auditVariables } from "@ostiary/audit/config";
import { wireGateway } from "@ostiary/gateway";
import { gatewayVariables } from "@ostiary/gateway/config";
import { wireIdentity } from "@ostiary/identity";
import { identityVariables } from "@ostiary/identity/config";
import { VALIDATE_PATH } from "@ostiary/lib/contracts/internal-api";
import { type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { localOrigin, type Running, serve } from "@ostiary/lib/runtime/service";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import { wirePortal } from "@ostiary/portal";
import { portalVariables } from "@ostiary/portal/config";
import { namesProvider } from "@ostiary/portal/providers";
import { wireRegistry } from "@ostiary/registry";
import { registryVariables } from "@ostiary/registry/config";
import type { PlatformConfig } from "./config.ts";
import type { SharedStores } from "./stores.ts";

const ROLES_FILE = shippedFile("seeds/roles.yaml");

/** Returns the environment variables of all services. The platform's values override the operator's. */
export function sharedEnvironment(
  config: PlatformConfig,
  env: Environment,
  decided: Environment,
): Environment {
  const values = {
    ...decided,
    ROUTE_STORE_URL: config.ROUTE_STORE_URL,
    COUNTER_STORE_URL: config.COUNTER_STORE_URL,
    ROLES_FILE: config.ROLES_FILE ?? ROLES_FILE,
  };
  // leaves out the files that the platform has read: a service refuses a variable with both a value and a file
  const files = new Set(Object.keys(values).map((name) => `${name}_FILE`));
  return { ...Object.fromEntries(Object.entries(env).filter(([name]) => !files.has(name))), ...values };
}

/** The three services behind the gateway. */
interface Backends {
  readonly registry: Running;
  readonly identity: Running;
  readonly audit: Running;
}

export async function startBackends(
  config: PlatformConfig,
  env: Environment,
  stores: SharedStores,
): Promise<Backends> {
  const registryConfig = loadConfig(registryVariables, {
    ...gatewayAddress(config),
    ...withPorts(env, config, "REGISTRY"),
    EDGE_DOCUMENT_PUBLIC: String(isDescriptionPublic(config, env)),
  });
  const identityConfig = loadConfig(identityVariables, withPorts(env, config, "IDENTITY"));
  const auditConfig = loadConfig(auditVariables, withPorts(env, config, "AUDIT"));
  await using started = new AsyncDisposableStack();
  const registry = await serve(
    await wireRegistry(registryConfig, stores),
    registryConfig,
    portsOf("REGISTRY"),
  );
  started.defer(registry.shutdown);
  const identity = await serve(
    await wireIdentity(identityConfig, stores),
    identityConfig,
    portsOf("IDENTITY"),
  );
  started.defer(identity.shutdown);
  const audit = await serve(await wireAudit(auditConfig, stores), auditConfig, portsOf("AUDIT"));
  started.move();
  return { registry, identity, audit };
}

/**
 * Returns whether the edge description needs no token. EDGE_DOCUMENT_PUBLIC decides. Without EDGE_DOCUMENT_PUBLIC,
 * the description is public if the demo and the portal are on, because the portal shows the description (PT-46).
 */
export function isDescriptionPublic({ DEMO, PORTAL_ENABLED }: PlatformConfig, env: Environment): boolean {
  return env.EDGE_DOCUMENT_PUBLIC ? env.EDGE_DOCUMENT_PUBLIC === "true" : DEMO && PORTAL_ENABLED;
}

/** Returns the variable with the gateway's URL for the edge description. Empty if the gateway's port is not fixed. */
function gatewayAddress({ HOST, GATEWAY_PORT }: PlatformConfig): Environment {
  return GATEWAY_PORT === 0 ? {} : { EDGE_DOCUMENT_SERVER_URL: localOrigin(HOST, GATEWAY_PORT) };
}

/** The toy identity provider, which replaces the operator's issuers. */
interface Issuer {
  issuer: string;
  jwks_uri: string;
}

export interface RunningGateway extends Running {
  /** Its id in the registry's list of gateways. */
  readonly instance: string;
}

export async function startGateway(
  config: PlatformConfig,
  env: Environment,
  stores: SharedStores,
  backends: Backends,
  issuer: Issuer | null,
): Promise<RunningGateway> {
  const { identity, audit } = backends;
  const gatewayConfig = loadConfig(gatewayVariables, {
    ...withPorts(env, config, "GATEWAY"),
    ...(issuer && {
      AUTH_ISSUER: issuer.issuer,
      AUTH_JWKS_URI: issuer.jwks_uri,
      AUTH_ISSUERS_FILE: undefined,
    }),
    CREDENTIAL_VALIDATE_URL: `${localOrigin(config.IDENTITY_HOST, identity.internal_port)}${VALIDATE_PATH}`,
    AUDIT_URL: localOrigin(config.AUDIT_HOST, audit.internal_port),
  });
  const gateway = await wireGateway(gatewayConfig, stores);
  const listening = { ...gatewayConfig, INTERNAL_HOST: config.GATEWAY_INTERNAL_HOST };
  return { ...(await serve(gateway, listening, portsOf("GATEWAY"))), instance: gateway.instance };
}

/** The portal's client id at the toy identity provider. */
const DEMO_CLIENT_ID = "portal";

/** Starts the portal. Returns null if the portal is off or has no identity provider. */
export async function startPortal(
  config: PlatformConfig,
  env: Environment,
  demo: Issuer | null,
): Promise<Running | null> {
  if (!config.PORTAL_ENABLED || (demo === null && !namesProvider(config))) return null;
  const portalConfig = loadConfig(portalVariables, {
    ...withPorts(env, config, "PORTAL"),
    ...(demo && { AUTH_ISSUER: demo.issuer, PORTAL_CLIENT_ID: DEMO_CLIENT_ID }),
  });
  return serve(await wirePortal(portalConfig), portalConfig, portsOf("PORTAL"));
}

type Part = "GATEWAY" | "REGISTRY" | "IDENTITY" | "AUDIT" | "PORTAL";

/** Returns the names of the platform's variables that set a part's ports. */
function portsOf(part: Part) {
  return { port: `${part}_PORT`, internal_port: `${part}_INTERNAL_PORT` } as const;
}

function withPorts(env: Environment, config: PlatformConfig, part: Part): Environment {
  const { port, internal_port } = portsOf(part);
  const HOST = part === "GATEWAY" ? config.HOST : config[`${part}_HOST`];
  return { ...env, HOST, PORT: String(config[port]), INTERNAL_PORT: String(config[internal_port]) };
}
