import { freePort } from "../../support/free-port.ts";
import { waitFor } from "../../support/wait-for.ts";
import type { Target } from "../measure/wrk.ts";
import type { Bed, Started } from "./bed.ts";
import { memberPaths, publicPaths, publish } from "./catalog.ts";
import { caller, type Identity } from "./identity.ts";
import { rivalMissing, startRival } from "./rival.ts";

export type SubjectName =
  | "pass_through"
  | "rival"
  | "whole_job"
  | "public"
  | "quiet"
  | "traced"
  | "routes_10_000"
  | "routes_100_000";

/** One line of the table. */
export interface Subject extends Target {
  readonly name: SubjectName;
  readonly title: string;
  /** Whether it does the whole job: admits, limits, authorizes and rewrites. */
  readonly whole: boolean;
}

/** What clients send whatever they ask for. */
export const HEADERS = { "User-Agent": "wrk", Accept: "application/json" };
export const MEMBER_HEADERS = { ...HEADERS, "X-API-Key": caller.key };
const UPSTREAM = Bun.file(`${import.meta.dir}/upstream.conf`);
const CONCURRENT_REQUESTS = "65000";

/** Starts everything that is compared, on the same upstream, Redis and identity. */
export async function startSubjects(bed: Bed, identity: Identity): Promise<Subject[]> {
  const [upstream, redis] = await Promise.all([startUpstream(bed), bed.redis()]);
  const services = { upstream, redis_url: redis.url, ...identity };
  const passThrough = await startPassThrough(bed, upstream);
  const gateway = await startGateway(bed, services, 10);
  const gatewayOf10_000 = await startGateway(bed, services, 10_000);
  const gatewayOf100_000 = await startGateway(bed, services, 100_000);
  const member = { paths: memberPaths, headers: MEMBER_HEADERS };
  const subjects: Subject[] = [
    {
      name: "pass_through",
      title: "Bun.serve to fetch, nothing else",
      whole: false,
      ...passThrough,
      ...member,
    },
    { name: "whole_job", title: "gateway, whole job, 10 routes", whole: true, ...gateway, ...member },
    {
      name: "routes_10_000",
      title: "gateway, whole job, 10 000 routes",
      whole: true,
      ...gatewayOf10_000,
      ...member,
    },
    {
      name: "routes_100_000",
      title: "gateway, whole job, 100 000 routes",
      whole: true,
      ...gatewayOf100_000,
      ...member,
    },
    {
      name: "public",
      title: "gateway, public unlimited route",
      whole: false,
      ...gateway,
      paths: publicPaths,
      headers: HEADERS,
    },
  ];
  if (rivalMissing() !== null) return subjects;
  const rival = await startRival(bed, services);
  return [{ name: "rival", title: "nginx + Lua, whole job", whole: true, ...rival, ...member }, ...subjects];
}

export async function startUpstream(bed: Bed): Promise<Started> {
  if (Bun.which("nginx") !== null) return bed.nginx("helper", await UPSTREAM.text(), {});
  const port = await freePort();
  return bed.helper([process.execPath, entry("upstream"), String(port)], port);
}

export async function startPassThrough(bed: Bed, upstream: Started): Promise<Started> {
  const port = await freePort();
  return bed.subject([process.execPath, entry("pass-through"), String(port), upstream.url], port, {
    BUN_CONFIG_MAX_HTTP_REQUESTS: CONCURRENT_REQUESTS,
  });
}

function entry(name: string): string {
  return `${import.meta.dir}/${name}/main.ts`;
}

export interface GatewayOptions {
  /** Environment beside the usual. */
  readonly variables?: Record<string, string>;
  /** Another tree to start it from than this one. */
  readonly root?: string;
  /** A file that is loaded before it. */
  readonly preload?: string;
}

export async function startGateway(
  bed: Bed,
  services: Identity & { upstream: Started; redis_url: string },
  routes: number,
  { variables = {}, root, preload }: GatewayOptions = {},
): Promise<Started & { readonly route_store_url: string }> {
  const etcd = await bed.etcd();
  await publish(etcd.url, routes, services.upstream.url);
  const [port, internalPort] = [await freePort(), await freePort()];
  const environment = {
    HOST: "127.0.0.1",
    PORT: String(port),
    INTERNAL_PORT: String(internalPort),
    ROUTE_STORE_URL: etcd.url,
    COUNTER_STORE_URL: services.redis_url,
    AUTH_ISSUER: services.issuer,
    AUTH_JWKS_URI: services.jwks_uri,
    CREDENTIAL_VALIDATE_URL: services.validate_url,
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
    what: "the gateway being ready",
  });
  return { ...gateway, route_store_url: etcd.url };
}
