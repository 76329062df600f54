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
import { ValidationDurations } from "./admission/validation-durations.ts";
import { createApp } from "./app.ts";
import { createAuditRecorder } from "./audit/recorder.ts";
import { allowedOrigins, type GatewayConfig } from "./config.ts";
import { ClientAddresses } from "./edge/address.ts";
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
import { createLimiter } from "./steps/limit.ts";
import { LimitDecisions } from "./steps/limit-decisions.ts";
import { AuditTrail } from "./steps/record.ts";
import { Responder } from "./steps/respond.ts";
import { UpstreamCalls } from "./upstream/call.ts";
import { CallDurations } from "./upstream/call-durations.ts";
import { EventStreams } from "./upstream/event-streams.ts";
import { UpstreamHeaders } from "./upstream/headers.ts";
import { WebSockets } from "./upstream/websocket.ts";
import type { GatewaySocket } from "./upstream/websocket-tunnel.ts";

const COUNTER_PING_MS = 500;
/** What queued audit outcomes get to be delivered in when the gateway stops. */
const OUTCOMES_FLUSH_MS = 5_000;

/** Stores that other parts of the process use too, and close themselves. */
export interface GivenStores {
  routeStore?: RouteStore;
  counterStore?: CounterStore;
}

/** Builds the gateway. `start` rejects while the route store can not be reached. */
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
  const authenticator = createAuthenticator({
    config,
    log,
    signals: { durations: new ValidationDurations(registry), tracing },
    onCache: (name, cache) => caches.set(name, cache),
  });
  const recorder = createAuditRecorder({ config, log, registry, tracing });
  const instance = new Instance(routeStore, log, systemClock);
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
  const durations = new CallDurations(registry);
  const forwarder = new Forwarder(forwardOptions(config), headers, { calls, events }, durations);
  const readings = processReadings();
  const overload = new Overload(overloadOptions(config), readings, calls, log, systemClock);
  let port: number | null = null;
  addGatewayMetrics(registry, {
    caches,
    decisions,
    routes,
    forwarder,
    websockets,
    recorder,
    overload,
    port: () => port,
  });
  const app = createApp({
    steps: {
      overload,
      connections,
      targets: new RequestTargets(is_tls),
      routes,
      authenticator,
      limiter: createLimiter({ config, store: tracedCounters(counterStore, config, tracing), decisions }),
      audit: new AuditTrail(recorder, log),
      forwarder,
      websockets,
      responder: new Responder(createCorsPolicy(allowedOrigins(config)), connections),
      log: new RequestLog(telemetry),
    },
    addresses: new ClientAddresses(config.TRUSTED_PROXY_HOPS),
    telemetry,
    health,
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
      // what was read to make the table takes as much again
      readings.collect();
      await authenticator.start();
      await counterStore.ping(COUNTER_PING_MS).catch(() => {
        log.warn({}, "the counter store (COUNTER_STORE_URL) does not answer: not ready until it does");
      });
    },
    listening(opened) {
      port = opened;
      overload.start();
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
        recorder.close(OUTCOMES_FLUSH_MS),
      ]);
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
      "COUNTER_STORE_URL is memory://: this gateway counts for itself, whatever its replicas count",
    );
  }
  return openCounterStore(config.COUNTER_STORE_URL, {
    observer: metrics.observeStore,
    tls: peerTls(config, "COUNTER_STORE"),
  });
}

/** Counts that are part of the traces of their requests: the store itself sends those of many at once. */
function tracedCounters(
  store: CounterStore,
  { COUNTER_STORE_URL }: GatewayConfig,
  tracing: Tracing | undefined,
): Pick<CounterStore, "increment"> {
  if (tracing === undefined) return store;
  const system = COUNTER_STORE_URL === "memory://" ? "memory" : "redis";
  const name = { system, operation: "increment", namespace: COUNTERS_NAMESPACE };
  return {
    increment: (bucket, window_seconds) =>
      observed(tracing.observeStore, name, () => store.increment(bucket, window_seconds)),
  };
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
