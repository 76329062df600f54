import { freePort } from "../../../support/http/free-port.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import type { Target } from "../measure/wrk.ts";
import type { Bed, Started } from "./bed.ts";
import { memberPaths, publicPaths, publish, type Services, servicesOf, TWO_LIMITS } from "./catalog.ts";
import { caller, type Identity } from "./identity.ts";

export type SubjectName =
  | "whole_job"
  | "two_limits"
  | "public"
  | "quiet"
  | "traced"
  | "routes_10_000"
  | "routes_100_000";

/** The work of a subject for each request. `whole` means: admit, limit, authorize and rewrite. */
export type Job = "pass_through" | "public" | "whole";

/** A subject of the comparison, and its row in the table of results. */
export interface Subject extends Target {
  readonly name: SubjectName;
  readonly title: string;
  readonly job: Job;
}

/** The headers of every request to a public route. */
export const HEADERS = { "User-Agent": "wrk", Accept: "application/json" };
export const MEMBER_HEADERS = { ...HEADERS, "X-API-Key": caller.key };
const UPSTREAM = Bun.file(`${import.meta.dir}/upstream.conf`);
const CONCURRENT_REQUESTS = "65000";

/**
 * Starts gateways with different numbers of routes, on the same upstream service, Redis and identity service.
 */
export async function startSubjects(bed: Bed, identity: Identity): Promise<Subject[]> {
  const [upstream, redis] = await Promise.all([startUpstream(bed), bed.redis()]);
  const services = { upstream, redisUrl: redis.url, ...identity };
  const gateway = await startGateway(bed, services, 10);
  const gatewayOfTwoLimits = await startGateway(bed, services, servicesOf(10, upstream.url, TWO_LIMITS));
  const gatewayOf10k = await startGateway(bed, services, 10_000);
  const gatewayOf100k = await startGateway(bed, services, 100_000);
  const member = { paths: memberPaths, headers: MEMBER_HEADERS };
  return [
    { name: "whole_job", title: "gateway, whole job, 10 routes", job: "whole", ...gateway, ...member },
    {
      name: "two_limits",
      title: "gateway, whole job, a window and a quota",
      job: "whole",
      ...gatewayOfTwoLimits,
      ...member,
    },
    {
      name: "routes_10_000",
      title: "gateway, whole job, 10 000 routes",
      job: "whole",
      ...gatewayOf10k,
      ...member,
    },
    {
      name: "routes_100_000",
      title: "gateway, whole job, 100 000 routes",
      job: "whole",
      ...gatewayOf100k,
      ...member,
    },
    {
      name: "public",
      title: "gateway, public unlimited route",
      job: "public",
      ...gateway,
      paths: publicPaths,
      headers: HEADERS,
    },
  ];
}

export async function startUpstream(bed: Bed): Promise<Started> {
  if (Bun.which("nginx") !== null) return startNginx(bed, 1);
  const port = freePort();
  return bed.helper([process.execPath, entry("upstream"), String(port)], port);
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
  return startOnBun(bed, "pass-through", origins.join(","));
}

/**
 * Starts `<name>/main.ts` of this folder on the subjects' core. The first argument of the program is its
 * port.
 */
export async function startOnBun(bed: Bed, name: string, ...more: string[]): Promise<Started> {
  const port = freePort();
  return bed.subject([process.execPath, entry(name), String(port), ...more], port, {
    BUN_CONFIG_MAX_HTTP_REQUESTS: CONCURRENT_REQUESTS,
  });
}

function entry(name: string): string {
  return `${import.meta.dir}/${name}/main.ts`;
}

export interface GatewayOptions {
  /** Additional environment variables, which override the defaults below. */
  readonly variables?: Record<string, string>;
  /** The source folder to start the gateway from; by default this repository. */
  readonly root?: string;
  /** A module that Bun loads before the gateway. */
  readonly preload?: string;
}

/**
 * Starts a gateway with `routes`: the number of routes to the upstream service, or the services to publish.
 */
export async function startGateway(
  bed: Bed,
  services: Identity & { upstream: Started; redisUrl: string },
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
