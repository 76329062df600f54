import { collectedCounter, collectedGauge, type Metrics, readingsBy } from "@ostiary/lib/runtime/telemetry";
import type { CacheState } from "./admission/keys-and-sessions.ts";
import type { AuditRecorder } from "./audit/recorder.ts";
import { openConnections } from "./edge/open-connections.ts";
import type { Overload } from "./edge/overload.ts";
import type { Shares } from "./edge/shares.ts";
import type { DecisionCounts } from "./limits/decision-counts.ts";
import type { PublishedRoutes } from "./published-routes.ts";
import type { Authenticator } from "./steps/authenticate.ts";
import type { Forwarder } from "./steps/forward.ts";
import type { ConnectionCounts, ServiceConnections } from "./upstream/connection-counts.ts";
import type { ServicePool } from "./upstream/pool-client.ts";
import type { WebSockets } from "./upstream/websocket.ts";

type Registry = Metrics["registry"];

/** The sources of the gateway's metrics, which are read when metrics are scraped. */
interface MetricSources {
  readonly authenticator: Pick<Authenticator, "caches" | "refusals" | "knowledgeAgeMs">;
  readonly decisions: DecisionCounts;
  readonly routes: Pick<PublishedRoutes, "table" | "loadedAtMs" | "stale" | "skippedCount">;
  readonly forwarder: Pick<Forwarder, "calls" | "streams">;
  readonly websockets: Pick<WebSockets, "tunnels">;
  readonly recorder: Pick<AuditRecorder, "queued">;
  readonly overload: Pick<Overload, "underway" | "refused">;
  readonly shares: Pick<Shares, "refused" | "refusedForServices">;
  readonly connectionCounts: ConnectionCounts;
  readonly pools: () => Iterable<ServicePool>;
  /** Returns the public port, or null while it is closed. */
  readonly port: () => number | null;
}

/** Registers the gateway's own metrics, in addition to the metrics of every service (OP-47 to OP-50). */
export function addGatewayMetrics(registry: Registry, sources: MetricSources): void {
  const { authenticator } = sources;
  addCacheMetrics(registry, authenticator.caches);
  collectedGauge(registry, {
    name: "gateway_admission_changes_age_seconds",
    help: "Age of what this gateway knows of revoked and changed credentials, in seconds; absent if ADMISSION_CHANGES_WAIT_MS is 0.",
    read() {
      const ageMs = authenticator.knowledgeAgeMs();
      return ageMs === null ? [] : ageMs / 1000;
    },
  });
  collectedCounter(registry, {
    name: "gateway_credentials_refused_total",
    help: "Requests refused with 401, by reason.",
    read: () => readingsBy("reason", authenticator.refusals),
  });
  collectedCounter(registry, {
    name: "gateway_limit_decisions_total",
    help: "Rate-limit decisions, by policy (fallback, route, local:{service}:{name}, shared:{name}, denied) and decision (admitted, refused, uncounted).",
    read: () => sources.decisions.readings(),
  });
  addRouteMetrics(registry, sources.routes);
  addTrafficMetrics(registry, sources);
  addOverloadMetrics(registry, sources);
  addConnectionMetrics(registry, sources);
}

function addCacheMetrics(registry: Registry, caches: Authenticator["caches"]): void {
  const each = (pick: (state: CacheState) => number) => () =>
    Object.entries(caches).map(([cache, state]) => ({ labels: { cache }, value: pick(state) }));
  collectedCounter(registry, {
    name: "gateway_admission_cache_hits_total",
    help: "Cache lookups that found an entry, by cache (credentials, tokens, persons).",
    read: each(({ hits }) => hits),
  });
  collectedCounter(registry, {
    name: "gateway_admission_cache_misses_total",
    help: "Cache lookups that found no entry, by cache (credentials, tokens, persons). Lookups that wait for the same load all count.",
    read: each(({ misses }) => misses),
  });
  collectedGauge(registry, {
    name: "gateway_admission_cache_entries",
    help: "Cached entries, by cache (credentials, tokens, persons).",
    read: each(({ entries }) => entries),
  });
}

function gaugesOf(registry: Registry) {
  return (name: string, help: string, read: () => number) => collectedGauge(registry, { name, help, read });
}

function addRouteMetrics(registry: Registry, routes: MetricSources["routes"]): void {
  const gauge = gaugesOf(registry);
  gauge("gateway_services_loaded", "Services whose routes are served.", () => routes.table.counts.services);
  gauge(
    "gateway_services_left_out",
    "Services skipped because their stored configuration is invalid.",
    () => routes.skippedCount,
  );
  gauge("gateway_routes_loaded", "Routes that are served.", () => routes.table.counts.routes);
  gauge(
    "gateway_routes_loaded_timestamp_seconds",
    "Unix time, in seconds, at which the served routes were loaded.",
    () => routes.loadedAtMs / 1000,
  );
  gauge(
    "gateway_routes_stale",
    "1 while the route store may hold changes that this gateway does not serve yet, else 0.",
    () => Number(routes.stale),
  );
}

function addTrafficMetrics(registry: Registry, sources: MetricSources): void {
  const gauge = gaugesOf(registry);
  const { forwarder, websockets, recorder, port } = sources;
  collectedGauge(registry, {
    name: "gateway_open_connections",
    help: "Client connections to PORT, of all gateways that share PORT; absent on systems other than Linux.",
    async read() {
      const open = port();
      return (open === null ? null : await openConnections(open)) ?? [];
    },
  });
  gauge(
    "gateway_open_upstream_calls",
    "Calls to services in flight, streams included.",
    () => forwarder.calls,
  );
  gauge("gateway_open_streams", "Responses that are being streamed to clients.", () => forwarder.streams);
  gauge("gateway_open_websockets", "WebSockets between clients and services.", () => websockets.tunnels);
  gauge(
    "gateway_audit_outcomes_queued",
    "Outcomes that the audit service has not accepted yet.",
    () => recorder.queued,
  );
}

function addOverloadMetrics(
  registry: Registry,
  { overload, shares }: Pick<MetricSources, "overload" | "shares">,
): void {
  collectedGauge(registry, {
    name: "gateway_requests_in_flight",
    help: "Requests in flight, streams and WebSockets included.",
    read: () => overload.underway,
  });
  collectedCounter(registry, {
    name: "gateway_requests_refused_total",
    help: "Requests refused with 503 because the gateway or a service's share of it was full, by cause (requests, connections, memory, share).",
    read: () => readingsBy("cause", { ...overload.refused, share: shares.refusedForServices }),
  });
  collectedCounter(registry, {
    name: "gateway_shares_refused_total",
    help: "Requests refused with 429 because their caller had used up its share of a busy gateway.",
    read: () => shares.refused,
  });
}

function addConnectionMetrics(registry: Registry, { connectionCounts, pools }: MetricSources): void {
  const counted = (pick: (counts: ServiceConnections) => number) => () =>
    Array.from(connectionCounts.entries(), ([service, counts]) => ({
      labels: { service },
      value: pick(counts),
    }));
  collectedGauge(registry, {
    name: "gateway_upstream_connections",
    help: "Connections to services, by service and state (active while a request uses the connection, otherwise idle).",
    read: () => connectionStates(pools()),
  });
  collectedCounter(registry, {
    name: "gateway_upstream_connections_opened_total",
    help: "Connections to services that were established, by service.",
    read: counted(({ established }) => established),
  });
  collectedCounter(registry, {
    name: "gateway_upstream_connections_failed_total",
    help: "Connections to services that could not be established, by service.",
    read: counted(({ failed }) => failed),
  });
  collectedCounter(registry, {
    name: "gateway_upstream_connections_reused_total",
    help: "Requests that were sent over an idle connection, by service.",
    read: counted(({ reused }) => reused),
  });
  collectedCounter(registry, {
    name: "gateway_upstream_connections_closed_total",
    help: "Connections to services that were closed, by service and reason (idle, aged, service, last, abandoned, broken, malformed).",
    read: () => closings(connectionCounts),
  });
}

/**
 * Adds up the connections of each service. After a change of address, a service has several pools for a
 * while.
 */
function connectionStates(pools: Iterable<ServicePool>) {
  const states = new Map<string, { active: number; idle: number }>();
  for (const { service, pool } of pools) {
    const { active, idle } = states.get(service) ?? { active: 0, idle: 0 };
    states.set(service, { active: active + pool.open - pool.idle, idle: idle + pool.idle });
  }
  return Array.from(states).flatMap(([service, { active, idle }]) => [
    { labels: { service, state: "active" }, value: active },
    { labels: { service, state: "idle" }, value: idle },
  ]);
}

function closings(counts: ConnectionCounts) {
  return Array.from(counts.entries()).flatMap(([service, { closed }]) =>
    Object.entries(closed).map(([reason, value]) => ({ labels: { service, reason }, value })),
  );
}
