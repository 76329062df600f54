import { collectedCounter, collectedGauge, type Metrics, single } from "@ostiary/lib/runtime/telemetry";
import type { CacheName, CacheState } from "./admission/credentials.ts";
import type { AuditRecorder } from "./audit/recorder.ts";
import { openConnections } from "./edge/open-connections.ts";
import type { Overload } from "./edge/overload.ts";
import type { PublishedRoutes } from "./published-routes.ts";
import type { Forwarder } from "./steps/forward.ts";
import type { LimitDecisions } from "./steps/limit-decisions.ts";
import type { WebSockets } from "./upstream/websocket.ts";

type Registry = Metrics["registry"];

/** What the gateway's parts know of themselves. They are asked when metrics are scraped, and not before. */
export interface MetricSources {
  readonly caches: ReadonlyMap<CacheName, CacheState>;
  readonly decisions: LimitDecisions;
  readonly routes: Pick<PublishedRoutes, "table" | "loaded_at_ms" | "stale" | "left_out">;
  readonly forwarder: Pick<Forwarder, "calls" | "streams">;
  readonly websockets: Pick<WebSockets, "tunnels">;
  readonly recorder: Pick<AuditRecorder, "queued">;
  readonly overload: Pick<Overload, "underway" | "refused">;
  /** The public port; null while it is not open. */
  readonly port: () => number | null;
}

/** The gateway's own metrics, beyond those of the specification. */
export function addGatewayMetrics(registry: Registry, sources: MetricSources): void {
  addCacheMetrics(registry, sources.caches);
  collectedCounter(registry, {
    name: "gateway_limit_decisions_total",
    help: "Decisions on limited requests: fallback, route, local:service:name, shared:name, or denied addresses.",
    labelNames: ["policy", "decision"],
    read: () => sources.decisions.readings(),
  });
  addRouteMetrics(registry, sources.routes);
  addTrafficMetrics(registry, sources);
  addOverloadMetrics(registry, sources.overload);
}

function addCacheMetrics(registry: Registry, caches: MetricSources["caches"]): void {
  const labelNames = ["cache"];
  const each = (pick: (state: CacheState) => number) => () =>
    Array.from(caches, ([cache, state]) => ({ labels: { cache }, value: pick(state) }));
  collectedCounter(registry, {
    name: "gateway_admission_cache_hits_total",
    help: "Credentials, verified tokens and persons that were at hand.",
    labelNames,
    read: each(({ hits }) => hits),
  });
  collectedCounter(registry, {
    name: "gateway_admission_cache_misses_total",
    help: "Those that had to be looked up, those who waited for the same look-up included.",
    labelNames,
    read: each(({ misses }) => misses),
  });
  collectedGauge(registry, {
    name: "gateway_admission_cache_entries",
    help: "Entries that are kept.",
    labelNames,
    read: each(({ entries }) => entries),
  });
}

function addRouteMetrics(registry: Registry, routes: MetricSources["routes"]): void {
  const gauge = (name: string, help: string, read: () => number) =>
    collectedGauge(registry, { name, help, read: () => single(read()) });
  gauge("gateway_services_loaded", "Services whose routes are served.", () => routes.table.counts.services);
  gauge("gateway_services_left_out", "Services whose value is not valid.", () => routes.left_out);
  gauge("gateway_routes_loaded", "Routes that are served.", () => routes.table.counts.routes);
  gauge(
    "gateway_routes_loaded_timestamp_seconds",
    "When the routes that are served were taken in, since the Unix epoch.",
    () => routes.loaded_at_ms / 1000,
  );
  gauge("gateway_routes_stale", "1 while the route store may hold changes that are not served, else 0.", () =>
    Number(routes.stale),
  );
}

function addTrafficMetrics(registry: Registry, sources: MetricSources): void {
  const gauge = (name: string, help: string, read: () => number) =>
    collectedGauge(registry, { name, help, read: () => single(read()) });
  const { forwarder, websockets, recorder, port } = sources;
  collectedGauge(registry, {
    name: "gateway_open_connections",
    help: "Client connections of the public port, of all gateways that share it; absent where the system is not Linux.",
    async read() {
      const open = port();
      const count = open === null ? null : await openConnections(open);
      return count === null ? [] : single(count);
    },
  });
  gauge(
    "gateway_open_upstream_calls",
    "Calls of services under way, streams included.",
    () => forwarder.calls,
  );
  gauge("gateway_open_streams", "Answers that stream to their clients.", () => forwarder.streams);
  gauge("gateway_open_websockets", "WebSockets between clients and services.", () => websockets.tunnels);
  gauge("gateway_audit_outcomes_queued", "Outcomes that audit has not taken yet.", () => recorder.queued);
}

function addOverloadMetrics(registry: Registry, overload: MetricSources["overload"]): void {
  collectedGauge(registry, {
    name: "gateway_requests_in_flight",
    help: "Requests under way, streams and WebSockets included.",
    read: () => single(overload.underway),
  });
  collectedCounter(registry, {
    name: "gateway_requests_refused_total",
    help: "Requests refused for want of room, by what there was too much of: requests, connections, memory.",
    labelNames: ["cause"],
    read: () => Object.entries(overload.refused).map(([cause, value]) => ({ labels: { cause }, value })),
  });
}
