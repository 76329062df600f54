import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wireGateway } from "@ostiary/gateway";
import { gatewayVariables } from "@ostiary/gateway/config";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { serve } from "@ostiary/lib/runtime/service";
import { openCounterStore } from "@ostiary/lib/runtime/stores/counter-store";
import { memoryRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { waitFor } from "./wait-for.ts";

/** A gateway in this process, on embedded stores. */
export interface LocalGateway {
  readonly url: string;
  readonly internal_url: string;
  readonly routes: RouteStore;
  /** Stores services as the registry would, and resolves once the gateway has loaded them. */
  publish(services: Record<string, StoredServiceConfig>): Promise<void>;
  /** Returns the log so far. */
  logs(): Record<string, unknown>[];
  /** Waits for the log line of a request, and returns it. */
  logOf(request_id: string): Promise<Record<string, unknown>>;
  metrics(): Promise<string>;
  close(): Promise<void>;
}

/** Starts a gateway. Audit is off and no route is limited, unless `env` says otherwise. */
export async function startLocalGateway(env: Record<string, string> = {}): Promise<LocalGateway> {
  const directory = mkdtempSync(join(tmpdir(), "gateway-"));
  const log_file = join(directory, "log");
  const config = loadConfig(gatewayVariables, {
    HOST: "127.0.0.1",
    PORT: "0",
    INTERNAL_PORT: "0",
    LOG_FILE: log_file,
    ROUTE_STORE_URL: "memory://",
    COUNTER_STORE_URL: "memory://",
    CREDENTIAL_VALIDATE_URL: "http://127.0.0.1:9/validate",
    AUDIT_ENABLED: "false",
    RATE_LIMIT_REQUESTS: "0",
    RATE_LIMIT_AUTH_FAILURE_REQUESTS: "0",
    SHUTDOWN_TIMEOUT_MS: "1000",
    ...env,
  });
  const routeStore = memoryRouteStore();
  const counterStore = await openCounterStore("memory://");
  const running = await serve(await wireGateway(config, { routeStore, counterStore }), config);
  const internal_url = `http://127.0.0.1:${running.internal_port}`;
  const logs = () => readLines(log_file);
  const url = `http://127.0.0.1:${running.port}`;
  let published = 0;
  return {
    url,
    internal_url,
    routes: routeStore,
    async publish(services) {
      for (const [name, service] of Object.entries(services)) {
        await routeStore.put(`edge/gateway/routes/${name}`, JSON.stringify(service));
      }
      const probe = `/published/${++published}`;
      const service = publicService("http://127.0.0.1:9", { path: `${probe}/{id}`, methods: ["GET"] });
      await routeStore.put("edge/gateway/routes/zz-published", JSON.stringify(service));
      // The answer is 400 for the param: the route is loaded, and no service is called.
      await waitFor(async () => (await fetch(`${url}${probe}/%2f`)).status === 400, {
        what: "The gateway loading routes",
      });
    },
    logs,
    logOf: (request_id) =>
      waitFor(() => logs().find((line) => line.request_id === request_id && "duration_ms" in line), {
        what: `The log line of ${request_id}`,
      }),
    metrics: async () => (await fetch(`${internal_url}/metrics`)).text(),
    async close() {
      await running.shutdown();
      await counterStore.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function readLines(file: string): Record<string, unknown>[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** Returns a service with public routes only, for tests of the request path. */
export function publicService(
  url: string,
  ...routes: NonNullable<StoredServiceConfig["public"]>["routes"]
): StoredServiceConfig {
  return { url, public: { routes } };
}
