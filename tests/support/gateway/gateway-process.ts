import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { openRouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { type ProcessOptions, type RunningProcess, startProcess } from "../processes/start-process.ts";
import { freshRouteStoreUrl } from "../stores/services.ts";

interface GatewayProcesses extends ProcessOptions {
  /** The services by name, in the form that the registry stores. */
  services: Record<string, StoredServiceConfig>;
  replicas?: number;
  /** Environment variables of each gateway, which override `GATEWAY_DEFAULTS`. */
  env?: Record<string, string>;
}

const GATEWAY_DEFAULTS = {
  COUNTER_STORE_URL: "memory://",
  RATE_LIMIT_REQUESTS: "0",
  CREDENTIAL_VALIDATE_URL: "http://127.0.0.1:9/validate",
  AUDIT_ENABLED: "false",
};

/** Starts one gateway as a process. Its route store contains `services`. */
export async function startGateway(options: Omit<GatewayProcesses, "replicas">): Promise<RunningProcess> {
  const [gateway] = await startGateways(options);
  if (gateway === undefined) throw new Error("No gateway started.");
  return gateway;
}

/** Starts gateways as processes. Their shared route store contains `services`. */
export async function startGateways(options: GatewayProcesses): Promise<RunningProcess[]> {
  const routeStore = await freshRouteStoreUrl();
  const routes = await openRouteStore(routeStore);
  for (const [name, service] of Object.entries(options.services)) {
    await routes.put(`edge/gateway/routes/${name}`, JSON.stringify(service));
  }
  await routes.close();
  return Promise.all(
    Array.from({ length: options.replicas ?? 1 }, () => startGatewayOf(routeStore, options.env, options)),
  );
}

/** Starts one gateway as a process that reads its routes from this route store. */
export function startGatewayOf(
  routeStoreUrl: string,
  env: Record<string, string> = {},
  options?: ProcessOptions,
): Promise<RunningProcess> {
  const variables = { ...GATEWAY_DEFAULTS, ROUTE_STORE_URL: routeStoreUrl, ...env };
  return startProcess("apps/gateway/main.ts", variables, options);
}
