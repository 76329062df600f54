import { freePort } from "../../../support/http/free-port.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import type { Bed, Started } from "../measure/bed.ts";
import { LIMIT, publish, type Services, servicesOf } from "./catalog.ts";
import { caller, type Identity } from "./identity.ts";

/** The work of a subject for each request. `whole` means: admit, limit, authorize and rewrite. */
export type Job = "pass_through" | "public" | "whole";

/** The headers of every request to a public route. */
export const HEADERS = { "User-Agent": "wrk", Accept: "application/json" };
export const MEMBER_HEADERS = { ...HEADERS, "X-API-Key": caller.key };
const UPSTREAM = Bun.file(`${import.meta.dir}/upstream.conf`);
const CONCURRENT_REQUESTS = "65000";

export function startUpstream(bed: Bed): Promise<Started> {
  return startNginx(bed, 1);
}

/**
 * Starts one nginx that listens on 127.0.0.1, 127.0.0.2 and so on: one address for each of `count` services.
 */
export async function startServices(
  bed: Bed,
  count: number,
): Promise<Started & { readonly origins: readonly string[] }> {
  const started = await startNginx(bed, count);
  return { ...started, origins: addresses(count).map((address) => `http://${address}:${started.port}`) };
}

async function startNginx(bed: Bed, services: number): Promise<Started> {
  const listen = addresses(services).map((address) => `    listen ${address}:@PORT@ backlog=4096;`);
  return bed.nginx("helper", (await UPSTREAM.text()).replace("@LISTEN@", listen.join("\n")), {});
}

function addresses(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `127.0.0.${index + 1}`);
}

/** Starts a pass-through on the runtime's `fetch`. The path of each request names one of the services. */
export async function startPassThrough(bed: Bed, origins: readonly string[]): Promise<Started> {
  const port = freePort();
  return bed.subject(
    [process.execPath, `${import.meta.dir}/pass-through/main.ts`, String(port), origins.join(",")],
    port,
    {
      BUN_CONFIG_MAX_HTTP_REQUESTS: CONCURRENT_REQUESTS,
    },
  );
}

interface GatewayOptions {
  /** Additional environment variables, which override the defaults below. */
  readonly variables?: Record<string, string>;
  /** The source folder to start the gateway from; by default this repository. */
  readonly root?: string;
  readonly preload?: string;
}

/**
 * Starts a gateway with `routes`: the number of routes to the upstream service, or the services to publish.
 */
export async function startGateway(
  bed: Bed,
  services: Identity & { upstream: Pick<Started, "url">; redisUrl: string },
  routes: number | Services,
  { variables = {}, root, preload }: GatewayOptions = {},
): Promise<Started & { readonly routeStoreUrl: string }> {
  const etcd = await bed.etcd();
  await publish(etcd.url, typeof routes === "number" ? servicesOf(routes, services.upstream.url) : routes);
  const [port, internalPort] = [freePort(), freePort()];
  const environment = {
    HOST: "127.0.0.1",
    PORT: String(port),
    INTERNAL_PORT: String(internalPort),
    ROUTE_STORE_URL: etcd.url,
    COUNTER_STORE_URL: services.redisUrl,
    AUTH_ISSUER: services.issuer,
    AUTH_JWKS_URI: services.jwks_uri,
    CREDENTIAL_VALIDATE_URL: services.validateUrl,
    AUDIT_URL: services.upstream.url,
    MAX_UPSTREAM_REQUESTS: CONCURRENT_REQUESTS,
    RATE_LIMIT_AUTH_FAILURE_REQUESTS: String(LIMIT.requests),
    ...variables,
  };
  const command = [
    process.execPath,
    ...(preload === undefined ? [] : ["--preload", preload]),
    "apps/gateway/main.ts",
  ];
  const gateway = await bed.subject(command, port, environment, root);
  await waitFor(async () => (await fetch(`http://127.0.0.1:${internalPort}/health/ready`)).ok, {
    what: "the gateway to be ready",
  });
  return { ...gateway, routeStoreUrl: etcd.url };
}
