import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@ostiary/lib/async";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { serve } from "@ostiary/lib/runtime/service";
import { memoryRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { wireRegistry } from "@ostiary/registry";
import { registryVariables } from "@ostiary/registry/config";
import { duringTests } from "../../support/during-tests.ts";
import { freshDatabase, type RunningProcess, startProcess } from "../../support/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

export const ADMIN_TOKEN = "test-admin-token";

/** A response of the admin API. `body` is the parsed JSON, or the text if it is not JSON. */
export interface RegistryResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at responses field by field
  body: any;
}

export interface Client {
  readonly url: string;
  /**
   * Sends a request with the client's token. Strings and bytes are sent unchanged, and other bodies as JSON.
   */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<RegistryResponse>;
  apply(services: Record<string, unknown>): Promise<RegistryResponse>;
  put(name: string, config: unknown, headers?: Record<string, string>): Promise<RegistryResponse>;
}

/** A registry that runs in this process. */
export interface Registry extends Client, AsyncDisposable {
  readonly internalUrl: string;
  readonly databaseUrl: string;
  readonly routeStore: RouteStore;
  /** Returns a client with the token of an operator; see {@link tokenOf}. */
  as(name: string): Client;
  /** Returns a client with this token. */
  with(token: string): Client;
  stop(): Promise<void>;
}

/** An entry of an operators file. */
export type Entry = Record<string, unknown> & { name: string };

interface GivenToRegistry {
  databaseUrl?: string;
  routeStore?: RouteStore;
  clock?: Clock;
  env?: Record<string, string>;
  /** The entries of the operators file. By default, there is no such file. */
  operators?: readonly Entry[];
}

/** Starts one registry in this process for all tests of a file or `describe`. */
export function useRegistry(given?: GivenToRegistry): Registry {
  return duringTests(() => startRegistry(given));
}

/** Starts a registry in this process. By default, it has a new database and a route store in memory. */
export async function startRegistry(given: GivenToRegistry = {}): Promise<Registry> {
  const databaseUrl = given.databaseUrl ?? (await freshDatabase());
  const routeStore = given.routeStore ?? memoryRouteStore();
  const config = loadConfig(registryVariables, {
    HOST: "127.0.0.1",
    PORT: "0",
    INTERNAL_PORT: "0",
    LOG_FILE: "/dev/null",
    DATABASE_URL: databaseUrl,
    ADMIN_TOKEN,
    RECONCILE_INTERVAL_MS: "50",
    ...(given.operators && { OPERATORS_FILE: await operatorsFile(given.operators) }),
    ...given.env,
  });
  const running = await serve(await wireRegistry(config, { routeStore, clock: given.clock }), config);
  const url = `http://127.0.0.1:${running.port}`;
  return {
    ...clientOf(url),
    as: (name) => clientOf(url, tokenOf(name)),
    with: (token) => clientOf(url, token),
    internalUrl: `http://127.0.0.1:${running.internal_port}`,
    databaseUrl,
    routeStore,
    stop: running.shutdown,
    [Symbol.asyncDispose]: running.shutdown,
  };
}

async function operatorsFile(operators: readonly Entry[]): Promise<string> {
  const path = join(temporaryFolder("operators"), "operators.yaml");
  await writeFile(path, JSON.stringify({ operators }));
  return path;
}

/** Returns the token of an operator: ADMIN_TOKEN for `admin`, otherwise `token-of-<name>`. */
export function tokenOf(name: string): string {
  return name === "admin" ? ADMIN_TOKEN : `token-of-${name}`;
}

/** Starts a registry in a new process. */
export async function startRegistryProcess(
  env: { DATABASE_URL: string; ROUTE_STORE_URL: string } & Record<string, string>,
): Promise<RunningProcess & Client> {
  const running = await startProcess("apps/registry/main.ts", {
    ADMIN_TOKEN,
    RECONCILE_INTERVAL_MS: "50",
    LOG_LEVEL: "warn",
    ...env,
    // The log line with the bound ports, which startProcess reads, has level info.
    ...(env.LOG_LEVEL === undefined && { LOG_LEVEL: "info" }),
  });
  return { ...running, ...clientOf(running.url) };
}

/** Returns a client of an admin API that sends this operator token. */
export function clientOf(url: string, token = ADMIN_TOKEN): Client {
  const call: Client["call"] = async (method, path, body, headers = {}) => {
    const raw = typeof body === "string" || body instanceof Uint8Array || body === undefined;
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(!raw && { "Content-Type": "application/json" }),
        ...headers,
      },
      body: raw ? body : JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: parsed(await response.text()) };
  };
  return {
    url,
    call,
    apply: (services) => call("POST", "/apply", { services }),
    put: (name, config, headers) => call("PUT", `/services/${encodeURIComponent(name)}`, config, headers),
  };
}

/** Returns the config of a service with one user route for each path. */
export function service(...paths: string[]) {
  return {
    url: "http://upstream:8080",
    user: { routes: paths.map((path) => ({ path, methods: ["GET"] })) },
  };
}

/** Returns the published services in the route store, by name. */
export async function projected(routeStore: RouteStore): Promise<Record<string, unknown>> {
  const { entries } = await routeStore.list(ROUTES_PREFIX);
  return Object.fromEntries(
    entries.map(({ key, value }) => [key.slice(ROUTES_PREFIX.length), parsed(value)]),
  );
}

/** Returns the current services of the registry, by name. */
export async function current(registry: Client): Promise<Record<string, StoredServiceConfig>> {
  return (await registry.call("GET", "/services")).body.services;
}

/** Returns the paths and messages in a 422 response. */
export function fields({ body }: RegistryResponse): { path: string; message: string }[] {
  return body.error.details.fields;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
