import { startIdentityProvider, startSampleService } from "@ostiary/demo";
import { publishCatalogs } from "@ostiary/platform/catalogs";
import { freshCounterStoreUrl, freshDatabase, freshRouteStoreUrl } from "../stores/services.ts";
import { type RunningProcess, startProcess } from "./start-process.ts";

export const SERVICES = ["gateway", "registry", "identity", "audit"] as const;
export type ServiceName = (typeof SERVICES)[number];

/** The addresses of a service that runs as one process or as several replicas. */
interface Running {
  readonly url: string;
  readonly internalUrl: string;
}

/** The four services with new stores, the catalogs of `seeds/`, and the demo's identity provider and sample service. */
export interface StackOf<Service extends Running> extends Readonly<Record<ServiceName, Service>> {
  readonly databaseUrl: string;
  readonly identityProviderUrl: string;
  readonly sampleServiceUrl: string;
  readonly adminToken: string;
  /** Stops the identity provider and the sample service. */
  stopDemo(): Promise<void>;
}

/** The four services, each as one process. */
export interface Stack extends StackOf<RunningProcess> {
  /** Returns all lines that the services have written to standard output and standard error. */
  output(): string[];
  /** Stops all processes. Resolves with the exit codes of the four services. */
  close(): Promise<number[]>;
}

export const ADMIN_TOKEN = "test-admin-token";
export const INTERNAL_AUTH_TOKEN = "test-internal-token";

/** Starts the services. `gatewayEnv` contains environment variables of the gateway, `everyEnv` those of all services. */
export async function startStack(
  gatewayEnv: Record<string, string> = {},
  everyEnv: Record<string, string> = {},
): Promise<Stack> {
  const stack = await startServices(
    (service, env) => startProcess(`apps/${service}/main.ts`, env),
    everyEnv,
    gatewayEnv,
  );
  const processes = SERVICES.map((service) => stack[service]);
  return {
    ...stack,
    output: () => processes.flatMap(({ stdout, stderr }) => [...stdout, ...stderr]),
    async close() {
      const codes = await Promise.all(processes.map((each) => each.stop()));
      await stack.stopDemo();
      return codes;
    },
  };
}

/** Starts the services by `start`, and publishes the catalogs of `seeds/`. */
export async function startServices<Service extends Running>(
  start: (service: ServiceName, env: Record<string, string>) => Promise<Service>,
  everyEnv: Record<string, string>,
  gatewayEnv: Record<string, string>,
): Promise<StackOf<Service>> {
  const [databaseUrl, ROUTE_STORE_URL, COUNTER_STORE_URL] = await Promise.all([
    freshDatabase(),
    freshRouteStoreUrl(),
    freshCounterStoreUrl(),
  ]);
  const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
  const sample = startSampleService({ host: "127.0.0.1", port: 0, intervalMs: 20 });
  const stored = { ...everyEnv, DATABASE_URL: databaseUrl };
  const internal = { ...stored, INTERNAL_AUTH_TOKEN };
  const [registry, identity, audit] = await Promise.all([
    start("registry", { ...stored, ROUTE_STORE_URL, ADMIN_TOKEN }),
    start("identity", { ...internal, ROLES_FILE: "seeds/roles.yaml" }),
    start("audit", internal),
  ]);
  await publishCatalogs({ registryUrl: registry.url, adminToken: ADMIN_TOKEN }, [
    { service: "identity", url: identity.url },
    { service: "audit", url: audit.url },
    { service: "demo", url: sample.url },
  ]);
  const gateway = await start("gateway", {
    ROUTE_STORE_URL,
    COUNTER_STORE_URL,
    ...gatewayPeers({ provider, identity, audit }),
    INTERNAL_AUTH_TOKEN,
    ...everyEnv,
    ...gatewayEnv,
  });
  return {
    gateway,
    registry,
    identity,
    audit,
    databaseUrl,
    identityProviderUrl: provider.issuer,
    sampleServiceUrl: sample.url,
    adminToken: ADMIN_TOKEN,
    stopDemo: async () => void (await Promise.all([provider.stop(), sample.stop()])),
  };
}

export function gatewayPeers({
  provider,
  identity,
  audit,
}: {
  provider: { readonly issuer: string; readonly jwks_uri: string };
  identity: Pick<Running, "internalUrl">;
  audit: Pick<Running, "internalUrl">;
}) {
  return {
    AUTH_ISSUER: provider.issuer,
    AUTH_JWKS_URI: provider.jwks_uri,
    CREDENTIAL_VALIDATE_URL: `${identity.internalUrl}/internal/credentials/validate`,
    AUDIT_URL: audit.internalUrl,
  };
}
