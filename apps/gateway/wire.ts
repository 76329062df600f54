import { systemClock, unstalledClock } from "@ostiary/lib/async";
import { peerTls } from "@ostiary/lib/runtime/config";
import type { Service } from "@ostiary/lib/runtime/service";
import {
  COUNTERS_NAMESPACE,
  type CounterStore,
  observed,
  openCounterStore,
} from "@ostiary/lib/runtime/stores/counter-store";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { createTelemetry, type Telemetry, type Tracing } from "@ostiary/lib/runtime/telemetry";
import { ValidationDurations } from "./admission/validation-durations.ts";
import { internalListener, publicListener } from "./app.ts";
import { createAuditRecorder } from "./audit/recorder.ts";
import { allowedOrigins, callBounds, type GatewayConfig } from "./config.ts";
import { ClientAddresses } from "./edge/client-address.ts";
import { ClientConnections } from "./edge/client-connections.ts";
import { CorsPolicy } from "./edge/cors.ts";
import { Overload } from "./edge/overload.ts";
import { processReadings } from "./edge/process-readings.ts";
import { RequestLog } from "./edge/request-log.ts";
import { RequestTargets } from "./edge/request-target.ts";
import { Shares } from "./edge/shares.ts";
import { addGatewayMetrics } from "./gateway-metrics.ts";
import type { Steps } from "./handle.ts";
import { Instance } from "./instance.ts";
import { DecisionCounts } from "./limits/decision-counts.ts";
import { PublishedRoutes } from "./published-routes.ts";
import { RouteMetrics } from "./route-metrics.ts";
import { AuditEvents } from "./steps/audit-event.ts";
import { createAuthenticator } from "./steps/authenticate.ts";
import { Forwarder } from "./steps/forward.ts";
import { createLimiter, type LimitStore } from "./steps/limit.ts";
import { type Readmit, readmitWith } from "./steps/readmit.ts";
import { Responder } from "./steps/respond.ts";
import { UpstreamCalls } from "./upstream/call.ts";
import { CallDurations } from "./upstream/call-durations.ts";
import { ConnectionCounts } from "./upstream/connection-counts.ts";
import { FetchClient } from "./upstream/fetch-client.ts";
import { UpstreamHeaders } from "./upstream/headers.ts";
import { OpenEventStreams } from "./upstream/open-event-streams.ts";
import { PoolClient } from "./upstream/pool-client.ts";
import { WebSockets } from "./upstream/websocket.ts";
import type { GatewaySocket } from "./upstream/websocket-tunnel.ts";
import { createUsageRecorder } from "./usage/usage-recorder.ts";

/** The maximum time to deliver queued audit outcomes and usage when the gateway stops. */
const FLUSH_MS = 5_000;

/** The stores that the caller shares with other parts of the process. The caller closes these stores. */
interface GivenStores {
  routeStore?: RouteStore;
  counterStore?: CounterStore;
}

interface Gateway extends Service<GatewaySocket> {
  /** The gateway's id in the registry's list of gateways (GW-30). */
  readonly instance: string;
}

/** Builds the gateway. The `start` of the returned service rejects if the route store cannot be reached. */
export async function wireGateway(config: GatewayConfig, given: GivenStores = {}): Promise<Gateway> {
  const telemetry = await createTelemetry({ name: "gateway", namespace: "edge" }, config);
  const routeStore =
    given.routeStore ??
    (await openRouteStore(config.ROUTE_STORE_URL, {
      observer: telemetry.metrics.observeStore,
      tls: peerTls(config, "ROUTE_STORE"),
    }));
  const counterStore = given.counterStore ?? (await ownCounterStore(config, telemetry));
  const parts = partsOf(config, telemetry, routeStore);
  let port: number | null = null;
  const { health, readings, instance, routes, authenticator, overload, usage, websockets, events } = parts;
  const { client } = parts;
  addGatewayMetrics(telemetry.metrics.registry, {
    ...parts,
    port: () => port,
    pools: () => (client instanceof PoolClient ? client.pools : []),
  });
  const steps = stepsOf(config, telemetry, counterStore, parts);
  const checks = {
    key_set: async () => {
      if (!authenticator.ready()) throw new Error("No key set is loaded.");
    },
    counter_store: () => counterStore.ping(),
  };
  return {
    name: "gateway",
    instance: instance.id,
    telemetry,
    health,
    public: publicListener(steps, new ClientAddresses(config.TRUSTED_PROXY_HOPS), telemetry),
    internal: internalListener(checks, health, telemetry),
    async start() {
      await routes.start();
      // Free the text from which the route table was built, which takes as much memory as the table.
      readings.collect();
      await authenticator.start();
      await counterStore.ping().catch(() => warnOfSilence(telemetry));
    },
    listening(opened) {
      port = opened;
      overload.start();
      usage.start();
    },
    drain(timeoutMs) {
      websockets.goAway();
      events.leave(timeoutMs);
    },
    async stop() {
      await stopParts(parts);
      if (given.routeStore === undefined) await routeStore.close();
      if (given.counterStore === undefined) await counterStore.close();
    },
  };
}

type Parts = ReturnType<typeof partsOf>;

function partsOf(config: GatewayConfig, telemetry: Telemetry, routeStore: RouteStore) {
  const { log, exportedTracing: tracing } = telemetry;
  const { registry } = telemetry.metrics;
  const instance = new Instance(routeStore, log, systemClock);
  const health = { draining: false };
  const signals = { durations: new ValidationDurations(registry), tracing };
  const authenticator = createAuthenticator({ config, log, signals });
  const upstream = upstreamParts(config, telemetry, readmitWith(authenticator));
  const { calls, client } = upstream;
  const readings = processReadings();
  const relief = { endSlowReaders: () => calls.endSlowReaders(), closeIdle: () => client.closeIdle() };
  return {
    ...upstream,
    authenticator,
    health,
    readings,
    instance,
    routes: new PublishedRoutes(
      routeStore,
      log,
      systemClock,
      (loaded) => instance.report(loaded),
      callBounds(config),
    ),
    recorder: createAuditRecorder({ config, log, registry, tracing }),
    usage: createUsageRecorder({ config, instance: instance.id, log, registry }),
    decisions: new DecisionCounts(),
    connections: new ClientConnections(
      { idleTimeoutMs: config.CLIENT_IDLE_TIMEOUT_MS, bodyTimeoutMs: config.CLIENT_BODY_TIMEOUT_MS },
      health,
    ),
    overload: new Overload(
      {
        requestsMax: config.MAX_REQUESTS_IN_FLIGHT,
        connectionsMax: config.MAX_CONNECTIONS,
        memoryBytesMax: config.MAX_MEMORY_BYTES,
      },
      readings,
      relief,
      log,
      systemClock,
    ),
    shares: new Shares(config.MAX_REQUESTS_IN_FLIGHT),
  };
}

function upstreamParts(config: GatewayConfig, { metrics }: Telemetry, readmit: Readmit) {
  const { registry } = metrics;
  const headers = new UpstreamHeaders({
    trustForwarded: config.TRUSTED_PROXY_HOPS > 0,
    forwardClientAddress: config.FORWARD_CLIENT_ADDRESS,
  });
  const calls = new UpstreamCalls(unstalledClock);
  const events = new OpenEventStreams(systemClock);
  const routeMetrics = new RouteMetrics(metrics.requests, new CallDurations(registry));
  const connectionCounts = new ConnectionCounts(registry);
  const client = upstreamClient(config, connectionCounts);
  const forwarder = new Forwarder(
    { bodyTimeoutMs: config.CLIENT_BODY_TIMEOUT_MS, readmit },
    client,
    headers,
    { calls, events },
    routeMetrics,
  );
  const websockets = new WebSockets(
    {
      idleTimeoutMs: config.WEBSOCKET_IDLE_TIMEOUT_MS,
      messageBytesMax: config.WEBSOCKET_MESSAGE_BYTES_MAX,
      origins: new Set(allowedOrigins(config)),
    },
    headers,
  );
  return { calls, events, routeMetrics, connectionCounts, client, forwarder, websockets };
}

function stepsOf(
  config: GatewayConfig,
  telemetry: Telemetry,
  counterStore: CounterStore,
  parts: Parts,
): Steps {
  const { overload, shares, connections, routes, authenticator, forwarder, websockets, usage } = parts;
  const store = tracedCounters(counterStore, config, telemetry.exportedTracing);
  return {
    overload,
    shares,
    connections,
    targets: new RequestTargets(),
    routes,
    authenticator,
    limiter: createLimiter({ config, store, quotas: usage.quotas, decisions: parts.decisions }),
    audit: new AuditEvents(parts.recorder, telemetry.log),
    forwarder,
    websockets,
    responder: new Responder(new CorsPolicy(allowedOrigins(config)), connections),
    usage,
    log: new RequestLog(telemetry, parts.routeMetrics),
  };
}

/** Stops the loops, delivers queued audit outcomes and usage, and closes the idle connections. */
async function stopParts({ overload, routes, instance, authenticator, recorder, usage, client }: Parts) {
  await Promise.all([
    overload.stop(),
    routes.stop(),
    instance.release(),
    authenticator.stop(),
    recorder.close(FLUSH_MS),
    usage.close(FLUSH_MS),
  ]);
  client.closeIdle();
}

function warnOfSilence({ log }: Telemetry): void {
  log.warn(
    {},
    "the counter store (COUNTER_STORE_URL) does not respond: the gateway is not ready until the store responds",
  );
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
 * Returns a store that records `increment` and `charge` in the trace of the calling request. The counter
 * store itself cannot record them, because a batch contains the calls of several requests.
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
    idleMax: config.UPSTREAM_IDLE_CONNECTIONS,
    keepAliveMs: config.UPSTREAM_KEEP_ALIVE_MS,
    ageMaxMs: config.UPSTREAM_CONNECTION_MAX_AGE_MS,
    connectTimeoutMs: config.UPSTREAM_CONNECT_TIMEOUT_MS,
    connectionsMax: config.MAX_UPSTREAM_REQUESTS,
  };
  return new PoolClient(options, counts, systemClock);
}
