import { startIdentityProvider, startSampleService } from "@ostiary/demo";
import { publishCatalogs } from "@ostiary/platform/catalogs";
import { Balancer } from "../load/balancer.ts";
import { freshCounterStoreUrl, freshDatabase, freshRouteStoreUrl } from "../stores/services.ts";
import { waitFor } from "../time/wait-for.ts";
import { ADMIN_TOKEN, gatewayPeers, INTERNAL_AUTH_TOKEN } from "./stack.ts";
import { ProcessEnded, type RunningProcess, startProcess } from "./start-process.ts";

export const SERVICES = ["gateway", "registry", "identity", "audit"] as const;
export type ServiceName = (typeof SERVICES)[number];

export interface Replicated {
  readonly url: string;
  readonly internalUrl: string;
  readonly all: readonly RunningProcess[];
  /**
   * Restarts the replicas one at a time, as in a rolling update. Resolves with the exit codes of the old
   * replicas.
   */
  restart(): Promise<number[]>;
  close(): Promise<void>;
}

/** The replicas of the four services, which call each other only through their balancers. */
export interface ReplicatedStack extends Readonly<Record<ServiceName, Replicated>> {
  readonly databaseUrl: string;
  readonly identityProviderUrl: string;
  readonly adminToken: string;
  close(): Promise<void>;
}

/**
 * Starts two replicas of each service and publishes the catalogs of `seeds/`. `everyEnv` contains
 * environment variables of all services, `gatewayEnv` those of the gateways.
 */
export async function startReplicatedStack(
  everyEnv: Record<string, string>,
  gatewayEnv: Record<string, string> = {},
): Promise<ReplicatedStack> {
  const [databaseUrl, routeStoreUrl, counterStoreUrl] = await Promise.all([
    freshDatabase(),
    freshRouteStoreUrl(),
    freshCounterStoreUrl(),
  ]);
  const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
  const sample = startSampleService({ host: "127.0.0.1", port: 0, intervalMs: 20 });
  const shared = { ...everyEnv, DATABASE_URL: databaseUrl, INTERNAL_AUTH_TOKEN };
  const [registry, identity, audit] = await Promise.all([
    startReplicas("registry", { ...shared, ROUTE_STORE_URL: routeStoreUrl, ADMIN_TOKEN }),
    startReplicas("identity", { ...shared, ROLES_FILE: "seeds/roles.yaml" }),
    startReplicas("audit", shared),
  ]);
  await publishCatalogs({ registryUrl: registry.url, adminToken: ADMIN_TOKEN }, [
    { service: "identity", url: identity.url },
    { service: "audit", url: audit.url },
    { service: "demo", url: sample.url },
  ]);
  const gateway = await startReplicas("gateway", {
    ROUTE_STORE_URL: routeStoreUrl,
    COUNTER_STORE_URL: counterStoreUrl,
    ...gatewayPeers({ provider, identity, audit }),
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
    adminToken: ADMIN_TOKEN,
    async close() {
      await Promise.all([gateway, registry, identity, audit].map((each) => each.close()));
      await Promise.all([provider.stop(), sample.stop()]);
    },
  };
}

const REPLICAS = 2;
const STARTS_MAX = 5;

/**
 * Starts a replica and retries after a failure, as a supervisor would, because a store may be too busy to
 * respond.
 */
async function startAgain(entry: string, env: Record<string, string>): Promise<RunningProcess> {
  for (let start = 1; ; start++) {
    try {
      return await startProcess(entry, env);
    } catch (error) {
      if (start === STARTS_MAX || !(error instanceof ProcessEnded) || error.exitCode !== 1) throw error;
    }
  }
}

async function startReplicas(service: ServiceName, env: Record<string, string>): Promise<Replicated> {
  const balancer = new Balancer<RunningProcess>();
  const replicas: RunningProcess[] = [];
  const all: RunningProcess[] = [];
  const start = async () => {
    const replica = await startAgain(`apps/${service}/main.ts`, env);
    balancer.add(replica);
    await waitFor(() => balancer.ready.includes(replica), {
      what: `the readiness of a replica of ${service}`,
      timeoutMs: 30_000,
    });
    replicas.push(replica);
    all.push(replica);
  };
  const end = async (replica: RunningProcess) => {
    replicas.splice(replicas.indexOf(replica), 1);
    const code = await replica.stop();
    balancer.remove(replica);
    return code;
  };
  await Promise.all(Array.from({ length: REPLICAS }, start));
  const [open, internal] = await Promise.all([balancer.listen("url"), balancer.listen("internalUrl")]);
  return {
    url: open.url,
    internalUrl: internal.url,
    all,
    async restart() {
      const codes: number[] = [];
      for (const replica of [...replicas]) {
        codes.push(await end(replica));
        await start();
      }
      return codes;
    },
    async close() {
      await Promise.all(replicas.map((replica) => replica.kill()));
      balancer.stop();
      await Promise.all([open.close(), internal.close()]);
    },
  };
}
