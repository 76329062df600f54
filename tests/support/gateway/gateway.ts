import { readFileSync } from "node:fs";
import { join } from "node:path";
import { wireGateway } from "@ostiary/gateway";
import { gatewayVariables } from "@ostiary/gateway/config";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { serve } from "@ostiary/lib/runtime/service";
import { type CounterStore, openCounterStore } from "@ostiary/lib/runtime/stores/counter-store";
import { memoryRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { closing } from "../during-tests.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { waitFor } from "../time/wait-for.ts";

/** A gateway that runs in this process with embedded stores. */
export interface LocalGateway extends AsyncDisposable {
  readonly url: string;
  readonly internalUrl: string;
  readonly routes: RouteStore;
  /** Writes services into the route store as the registry does. Resolves once the gateway has loaded them. */
  publish(services: Record<string, StoredServiceConfig>): Promise<void>;
  logs(): Record<string, unknown>[];
  /** Waits for the access log line of a request, and returns the line. */
  logOf(request_id: string): Promise<Record<string, unknown>>;
  metrics(): Promise<string>;
  close(): Promise<void>;
}

/**
 * Starts a gateway in this process. By default, audit is off and there are no rate limits. `env` overrides
 * these defaults.
 */
export async function startLocalGateway(
  env: Record<string, string> = {},
  given: { counterStore?: CounterStore } = {},
): Promise<LocalGateway> {
  const logFile = join(temporaryFolder("gateway"), "log");
  const config = loadConfig(gatewayVariables, {
    HOST: "127.0.0.1",
    PORT: "0",
    INTERNAL_PORT: "0",
    LOG_FILE: logFile,
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
  const counterStore = given.counterStore ?? (await openCounterStore("memory://"));
  const running = await serve(await wireGateway(config, { routeStore, counterStore }), config);
  const url = `http://127.0.0.1:${running.port}`;
  const internalUrl = `http://127.0.0.1:${running.internal_port}`;
  const logs = () => readLines(logFile);
  let published = 0;
  return closing({
    url,
    internalUrl,
    routes: routeStore,
    async publish(services: Record<string, StoredServiceConfig>) {
      for (const [name, service] of Object.entries(services)) {
        await routeStore.put(`edge/gateway/routes/${name}`, JSON.stringify(service));
      }
      const probe = `/published/${++published}`;
      const service = publicService("http://127.0.0.1:9", { path: `${probe}/{id}`, methods: ["GET"] });
      await routeStore.put("edge/gateway/routes/zz-published", JSON.stringify(service));
      // A loaded route refuses the path parameter with 400, so the probe calls no service.
      await waitFor(async () => (await fetch(`${url}${probe}/%2f`)).status === 400, {
        what: "the gateway to load the routes",
      });
    },
    logs,
    logOf: (request_id: string) =>
      waitFor(() => logs().find((line) => line.request_id === request_id && "duration_ms" in line), {
        what: `the log line of ${request_id}`,
      }),
    metrics: async () => (await fetch(`${internalUrl}/metrics`)).text(),
    async close() {
      await running.shutdown();
      await counterStore.close();
    },
  });
}

function readLines(file: string): Record<string, unknown>[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

export function publicService(
  url: string,
  ...routes: NonNullable<StoredServiceConfig["public"]>["routes"]
): StoredServiceConfig {
  return { url, public: { routes } };
}
