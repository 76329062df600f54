import { startIdentityProvider, startSampleService } from "@ostiary/demo";
import { publishCatalogs } from "../../../apps/platform/catalogs.ts";
import { freshCounterStoreUrl, freshDatabase, freshRouteStoreUrl } from "../stores/services.ts";
import { type RunningProcess, startProcess } from "./start-process.ts";

/**
 * The four services and the portal as processes with new stores, the catalogs of `seeds/`, and the demo's provider and
 * service.
 */
export interface Stack
  extends Readonly<Record<"gateway" | "registry" | "identity" | "audit" | "portal", RunningProcess>> {
  readonly identityProviderUrl: string;
  readonly adminToken: string;
  /** Returns all lines that the services have written to standard output and standard error. */
  output(): string[];
  /** Stops all processes. Resolves with their exit codes. */
  close(): Promise<number[]>;
}

export const ADMIN_TOKEN = "test-admin-token";
export const INTERNAL_AUTH_TOKEN = "test-internal-token";

/**
 * Starts the services. `gatewayEnv` contains environment variables of the gateway, `everyEnv` those of all services.
 */
export async function startStack(
  gatewayEnv: Record<string, string> = {},
  everyEnv: Record<string, string> = {},
): Promise<Stack> {
  const [DATABASE_URL, ROUTE_STORE_URL, COUNTER_STORE_URL] = await Promise.all([
    freshDatabase(),
    freshRouteStoreUrl(),
    freshCounterStoreUrl(),
  ]);
  const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
  const sample = startSampleService({ host: "127.0.0.1", port: 0, intervalMs: 20 });
  const start = (service: string, env: Record<string, string>) =>
    startProcess(`apps/${service}/main.ts`, { ...everyEnv, ...env });
  const [registry, identity, audit, portal] = await Promise.all([
    start("registry", { DATABASE_URL, ROUTE_STORE_URL, ADMIN_TOKEN }),
    start("identity", { DATABASE_URL, INTERNAL_AUTH_TOKEN, ROLES_FILE: "seeds/roles.yaml" }),
    start("audit", { DATABASE_URL, INTERNAL_AUTH_TOKEN }),
    start("portal", { AUTH_ISSUER: provider.issuer, PORTAL_CLIENT_ID: "portal" }),
  ]);
  await publishCatalogs({ registryUrl: registry.url, adminToken: ADMIN_TOKEN, program: "bun cli" }, [
    { service: "identity", url: identity.url },
    { service: "audit", url: audit.url },
    { service: "demo", url: sample.url },
    { service: "portal", url: portal.url },
  ]);
  const gateway = await start("gateway", {
    ROUTE_STORE_URL,
    COUNTER_STORE_URL,
    ...gatewayPeers({ provider, identity, audit }),
    INTERNAL_AUTH_TOKEN,
    ...gatewayEnv,
  });
  const processes = [gateway, registry, identity, audit, portal];
  return {
    gateway,
    registry,
    identity,
    audit,
    portal,
    identityProviderUrl: provider.issuer,
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
  identity: Pick<RunningProcess, "internalUrl">;
  audit: Pick<RunningProcess, "internalUrl">;
}) {
  return {
    AUTH_ISSUER: provider.issuer,
    AUTH_JWKS_URI: provider.jwks_uri,
    CREDENTIAL_VALIDATE_URL: `${identity.internalUrl}/internal/credentials/validate`,
    AUDIT_URL: audit.internalUrl,
  };
}
