import { freePort } from "../../../support/http/free-port.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import type { Target } from "../measure/wrk.ts";
import type { Bed, Started } from "./bed.ts";
import { memberPaths, publish, type Services, servicesOf, TWO_LIMITS } from "./catalog.ts";
import { caller, type Identity } from "./identity.ts";

export type SubjectName =
  | "whole_job"
  | "two_limits"
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
 * Starts gateways that differ in routes, limits, logs and traces, on the same upstream service, Redis and
 * identity service.
 *
 * @param collectorUrl accepts spans
 */
export async function startSubjects(bed: Bed, identity: Identity, collectorUrl: string): Promise<Subject[]> {
  const [upstream, redis] = [await startUpstream(bed), await bed.redis()];
  const services = { upstream, redisUrl: redis.url, ...identity };
  const subject = async (
    name: SubjectName,
    title: string,
    routes: number | Services,
    variables: Record<string, string> = {},
  ): Promise<Subject> => ({
    name,
    title: `gateway, whole job, ${title}`,
    job: "whole",
    ...(await startGateway(bed, services, routes, { variables })),
    paths: memberPaths,
    headers: MEMBER_HEADERS,
  });
  const traces = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0.01",
  };
  return [
    await subject("whole_job", "10 routes", 10),
    await subject("two_limits", "a window and a quota", servicesOf(10, upstream.url, TWO_LIMITS)),
    await subject("routes_10_000", "10 000 routes", 10_000),
    await subject("routes_100_000", "100 000 routes", 100_000),
    await subject("quiet", "a line only for errors", 10, { LOG_LEVEL: "error" }),
    await subject("traced", "traces of 1 %", 10, traces),
  ];
}

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
