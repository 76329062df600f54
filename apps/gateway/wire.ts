import { systemClock } from "@ostiary/lib/async";
import { peerTls } from "@ostiary/lib/runtime/config";
import { certificateFiles, type Service } from "@ostiary/lib/runtime/service";
import {
  COUNTERS_NAMESPACE,
  type CounterStore,
  observed,
  openCounterStore,
} from "@ostiary/lib/runtime/stores/counter-store";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { createTelemetry, type Telemetry, type Tracing } from "@ostiary/lib/runtime/telemetry";
import type { CacheName, CacheState } from "./admission/credentials.ts";
import { RefusalCounts } from "./admission/refusal-counts.ts";
import { ValidationDurations } from "./admission/validation-durations.ts";
import { createApp } from "./app.ts";
import { createAuditRecorder } from "./audit/recorder.ts";
import { allowedOrigins, type GatewayConfig } from "./config.ts";
import { ClientAddresses } from "./edge/address.ts";
import { CallerShares } from "./edge/caller-shares.ts";
import { ClientConnections } from "./edge/connection.ts";
import { createCorsPolicy } from "./edge/cors.ts";
import { Overload } from "./edge/overload.ts";
import { processReadings } from "./edge/process-readings.ts";
import { RequestLog } from "./edge/request-log.ts";
import { RequestTargets } from "./edge/target.ts";
import { Instance } from "./instance.ts";
import { addGatewayMetrics } from "./metrics.ts";
import { PublishedRoutes } from "./published-routes.ts";
import { createAuthenticator } from "./steps/authenticate.ts";
import { Forwarder } from "./steps/forward.ts";
import { createLimiter, type LimitStore } from "./steps/limit.ts";
import { LimitDecisions } from "./steps/limit-decisions.ts";
import { AuditTrail } from "./steps/record.ts";
import { Responder } from "./steps/respond.ts";
import { Traffic } from "./traffic.ts";
import { UpstreamCalls } from "./upstream/call.ts";
import { CallDurations } from "./upstream/call-durations.ts";
import { ConnectionCounts } from "./upstream/connection-counts.ts";
import { EventStreams } from "./upstream/event-streams.ts";
import { FetchClient } from "./upstream/fetch-client.ts";
import { UpstreamHeaders } from "./upstream/headers.ts";
import { PoolClient } from "./upstream/pool-client.ts";
import { WebSockets } from "./upstream/websocket.ts";
import type { GatewaySocket } from "./upstream/websocket-tunnel.ts";
import { createUsageRecorder } from "./usage/usage.ts";

const COUNTER_PING_MS = 500;
/** Time to deliver queued audit outcomes and usage when the gateway stops. */
const FLUSH_MS = 5_000;

/** Stores that other parts of the process use too. Their owner closes them. */
export interface GivenStores {
  routeStore?: RouteStore;
  counterStore?: CounterStore;
}

/** Builds the gateway. `start` rejects while the route store cannot be reached. */
export async function wireGateway(
  config: GatewayConfig,
  given: GivenStores = {},
): Promise<Service<GatewaySocket>> {
  const telemetry = await createTelemetry({ name: "gateway", namespace: "edge" }, config);
  const routeStore = given.routeStore ?? (await ownRouteStore(config, telemetry));
  const counterStore = given.counterStore ?? (await ownCounterStore(config, telemetry));
  const { log } = telemetry;
  const { registry } = telemetry.metrics;
  const tracing = telemetry.exportedTracing;
  const caches = new Map<CacheName, CacheState>();
  const refusals = new RefusalCounts();
  const authenticator = createAuthenticator({
    config,
    log,
    signals: { durations: new ValidationDurations(registry), tracing },
    onCache: (name, cache) => caches.set(name, cache),
    onRefused: (reason) => refusals.add(reason),
  });
  const recorder = createAuditRecorder({ config, log, registry, tracing });
  const instance = new Instance(routeStore, log, systemClock);
  const usage = createUsageRecorder({ config, instance: instance.id, log, registry });
  const routes = new PublishedRoutes(routeStore, log, systemClock, (loaded) => instance.tell(loaded));
  const health = { draining: false };
  const is_tls = certificateFiles(config) !== null;
  const headers = new UpstreamHeaders({
    scheme: is_tls ? "https" : "http",
    trust_forwarded: config.TRUSTED_PROXY_HOPS > 0,
    forward_client_address: config.FORWARD_CLIENT_ADDRESS,
  });
  const websockets = new WebSockets(webSocketOptions(config), headers);
  const connections = new ClientConnections(clientTimes(config), health);
  const decisions = new LimitDecisions();
  const calls = new UpstreamCalls(systemClock);
  const events = new EventStreams(systemClock);
  const traffic = new Traffic(telemetry.metrics.requests, new CallDurations(registry));
  const connectionCounts = new ConnectionCounts(registry);
  const client = upstreamClient(config, connectionCounts);
  const forwarder = new Forwarder(forwardOptions(config), client, headers, { calls, events }, traffic);
  const readings = processReadings();
  const relief = { endSlowReaders: () => calls.endSlowReaders(), closeIdle: () => client.closeIdle() };
  const overload = new Overload(overloadOptions(config), readings, relief, log, systemClock);
  const shares = new CallerShares(config.MAX_REQUESTS_IN_FLIGHT);
  let port: number | null = null;
  addGatewayMetrics(registry, {
    caches,
    refusals,
    decisions,
    routes,
    forwarder,
    websockets,
    recorder,
    overload,
    shares,
    pools: () => (client instanceof PoolClient ? client.pools : []),
    connectionCounts,
    port: () => port,
  });
  const app = createApp({
    steps: {
      overload,
      shares,
      connections,
      targets: new RequestTargets(is_tls),
      routes,
      authenticator,
      limiter: createLimiter({
        config,
        store: tracedCounters(counterStore, config, tracing),
        quotas: usage.quotas,
        decisions,
      }),
      audit: new AuditTrail(recorder, log),
      forwarder,
      websockets,
      responder: new Responder(createCorsPolicy(allowedOrigins(config)), connections),
      usage,
      log: new RequestLog(telemetry, traffic),
    },
    addresses: new ClientAddresses(config.TRUSTED_PROXY_HOPS),
    telemetry,
    health,
    isHttp2: config.HTTP2_ENABLED,
    checks: {
      key_set: async () => {
        if (!authenticator.ready()) throw new Error("The key set is not loaded.");
      },
      counter_store: () => counterStore.ping(COUNTER_PING_MS),
    },
  });
  return {
    name: "gateway",
    telemetry,
    health,
    ...app,
    async start() {
      await routes.start();
      // frees the text that the table was built from, which takes as much memory as the table
      readings.collect();
      await authenticator.start();
      await counterStore.ping(COUNTER_PING_MS).catch(() => {
        log.warn(
          {},
          "the counter store (COUNTER_STORE_URL) does not answer: the gateway is not ready until it does",
        );
      });
    },
    listening(opened) {
      port = opened;
      overload.start();
      usage.start();
    },
    drain(timeout_ms) {
      websockets.goAway();
      events.leave(timeout_ms);
    },
    async stop() {
      await Promise.all([
        overload.stop(),
        routes.stop(),
        instance.release(),
        authenticator.stop(),
        recorder.close(FLUSH_MS),
        usage.close(FLUSH_MS),
      ]);
      client.closeIdle();
      if (given.routeStore === undefined) await routeStore.close();
      if (given.counterStore === undefined) await counterStore.close();
    },
  };
}

async function ownRouteStore(config: GatewayConfig, { metrics }: Telemetry): Promise<RouteStore> {
  return openRouteStore(config.ROUTE_STORE_URL, {
    observer: metrics.observeStore,
    tls: peerTls(config, "ROUTE_STORE"),
  });
}

async function ownCounterStore(config: GatewayConfig, { metrics, log }: Telemetry): Promise<CounterStore> {
  if (config.COUNTER_STORE_URL === "memory://") {
    log.warn(
      {},
      "COUNTER_STORE_URL is memory://: this gateway counts alone and shares no limit with its replicas",
    );
  }
  return openCounterStore(config.COUNTER_STORE_URL, {
    observer: metrics.observeStore,
    tls: peerTls(config, "COUNTER_STORE"),
  });
}

/**
 * Returns counters whose calls are part of the traces of their requests, since the store batches calls of
 * several requests.
 */
function tracedCounters(
  store: CounterStore,
  { COUNTER_STORE_URL }: GatewayConfig,
  tracing: Tracing | undefined,
): LimitStore {
  if (tracing === undefined) return store;
  const system = COUNTER_STORE_URL === "memory://" ? "memory" : "redis";
  const traced = <T>(operation: string, work: () => Promise<T>) =>
    observed(tracing.observeStore, { system, operation, namespace: COUNTERS_NAMESPACE }, work);
  return {
    isSpread: store.isSpread,
    increment: (bucket, window_seconds) => traced("increment", () => store.increment(bucket, window_seconds)),
    charge: (charges) => traced("charge", () => store.charge(charges)),
    refund: (refunds) => store.refund(refunds),
  };
}

function upstreamClient(config: GatewayConfig, counts: ConnectionCounts): FetchClient | PoolClient {
  if (config.UPSTREAM_CLIENT === "fetch") return new FetchClient();
  const options = {
    idle_max: config.UPSTREAM_IDLE_CONNECTIONS,
    keep_alive_ms: config.UPSTREAM_KEEP_ALIVE_MS,
    connect_timeout_ms: config.UPSTREAM_CONNECT_TIMEOUT_MS,
    connections_max: config.MAX_UPSTREAM_REQUESTS,
  };
  return new PoolClient(options, counts, systemClock);
}

function forwardOptions(config: GatewayConfig) {
  return {
    body_bytes_max: config.MAX_BODY_BYTES,
    timeout_ms: config.UPSTREAM_TIMEOUT_MS,
    idle_timeout_ms: config.UPSTREAM_IDLE_TIMEOUT_MS,
    body_timeout_ms: config.CLIENT_BODY_TIMEOUT_MS,
  };
}

function overloadOptions(config: GatewayConfig) {
  return {
    requests_max: config.MAX_REQUESTS_IN_FLIGHT,
    connections_max: config.MAX_CONNECTIONS,
    memory_bytes_max: config.MAX_MEMORY_BYTES,
  };
}

function clientTimes(config: GatewayConfig) {
  return { idle_timeout_ms: config.CLIENT_IDLE_TIMEOUT_MS, body_timeout_ms: config.CLIENT_BODY_TIMEOUT_MS };
}

function webSocketOptions(config: GatewayConfig) {
  return {
    timeout_ms: config.UPSTREAM_TIMEOUT_MS,
    idle_timeout_ms: config.WEBSOCKET_IDLE_TIMEOUT_MS,
    message_bytes_max: config.WEBSOCKET_MESSAGE_BYTES_MAX,
    origins: new Set(allowedOrigins(config)),
  };
}
