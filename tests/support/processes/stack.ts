import { startIdentityProvider, startSampleService } from "@ostiary/demo";
import { publishCatalogs } from "@ostiary/platform/catalogs";
import { freshCounterStoreUrl, freshDatabase, freshRouteStoreUrl } from "../stores/services.ts";
import { type RunningProcess, startProcess } from "./start-process.ts";

/** The four services as processes, with the demo's identity provider and sample service. */
export interface Stack {
  readonly gateway: RunningProcess;
  readonly registry: RunningProcess;
  readonly identity: RunningProcess;
  readonly audit: RunningProcess;
  readonly identityProviderUrl: string;
  readonly sampleServiceUrl: string;
  readonly adminToken: string;
  /** Returns all lines that the services have written to standard output and standard error. */
  output(): string[];
  /** Stops all processes. Resolves with the exit codes of the four services. */
  close(): Promise<number[]>;
}

export const ADMIN_TOKEN = "test-admin-token";
export const INTERNAL_AUTH_TOKEN = "test-internal-token";

/**
 * Starts the services and publishes the catalogs of `seeds/`. `gatewayEnv` contains environment variables of
 * the gateway, `everyEnv` those of all services.
 */
export async function startStack(
  gatewayEnv: Record<string, string> = {},
  everyEnv: Record<string, string> = {},
): Promise<Stack> {
  const [database, routeStore, counterStore] = await Promise.all([
    freshDatabase(),
    freshRouteStoreUrl(),
    freshCounterStoreUrl(),
  ]);
  const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
  const sample = startSampleService({ host: "127.0.0.1", port: 0, intervalMs: 20 });
  const shared = { ...everyEnv, DATABASE_URL: database, INTERNAL_AUTH_TOKEN };
  const [registry, identity, audit] = await Promise.all([
    startProcess("apps/registry/main.ts", {
      ...everyEnv,
      DATABASE_URL: database,
      ROUTE_STORE_URL: routeStore,
      ADMIN_TOKEN,
    }),
    startProcess("apps/identity/main.ts", { ...shared, ROLES_FILE: "seeds/roles.yaml" }),
    startProcess("apps/audit/main.ts", shared),
  ]);
  await publishCatalogs({ registryUrl: registry.url, adminToken: ADMIN_TOKEN }, [
    { service: "identity", url: identity.url },
    { service: "audit", url: audit.url },
    { service: "demo", url: sample.url },
  ]);
  const gateway = await startProcess("apps/gateway/main.ts", {
    ROUTE_STORE_URL: routeStore,
    COUNTER_STORE_URL: counterStore,
    ...gatewayPeers({ provider, identity, audit }),
    ...everyEnv,
    ...gatewayEnv,
  });
  const processes = [gateway, registry, identity, audit];
  return {
    gateway,
    registry,
    identity,
    audit,
    identityProviderUrl: provider.issuer,
    sampleServiceUrl: sample.url,
    adminToken: ADMIN_TOKEN,
    output: () => processes.flatMap(({ stdout, stderr }) => [...stdout, ...stderr]),
    async close() {
      const codes = await Promise.all(processes.map((each) => each.stop()));
      await Promise.all([provider.stop(), sample.stop()]);
      return codes;
    },
  };
}

export function gatewayPeers({
  provider,
  identity,
  audit,
}: {
  provider: { readonly issuer: string; readonly jwks_uri: string };
  identity: { readonly internalUrl: string };
  audit: { readonly internalUrl: string };
}) {
  return {
    AUTH_ISSUER: provider.issuer,
    AUTH_JWKS_URI: provider.jwks_uri,
    CREDENTIAL_VALIDATE_URL: `${identity.internalUrl}/internal/credentials/validate`,
    AUDIT_URL: audit.internalUrl,
    INTERNAL_AUTH_TOKEN,
  };
}
