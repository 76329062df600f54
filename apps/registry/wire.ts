import { type Clock, systemClock } from "@ostiary/lib/async";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { peerTls } from "@ostiary/lib/runtime/config";
import { loadRolesFile, type RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import type { Service } from "@ostiary/lib/runtime/service";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import { type Database, migrateAtStart, openConfigured } from "@ostiary/lib/runtime/stores/database";
import {
  openRouteStore,
  type RouteStore,
  routeStoreBootFailure,
} from "@ostiary/lib/runtime/stores/route-store";
import { createTelemetry, type Logger, type Telemetry } from "@ostiary/lib/runtime/telemetry";
import { createApp } from "./app.ts";
import type { RegistryConfig } from "./config.ts";
import { bundleConsole } from "./console/bundle.ts";
import { seedRoutes } from "./documents/seeds.ts";
import { EdgeDescription } from "./edge-description/edge-description.ts";
import { ServiceDescriptions, watchDescriptions } from "./edge-description/service-descriptions.ts";
import { Propagations } from "./gateways/propagations.ts";
import { CurrentTable } from "./lookup/current-table.ts";
import { addOperatorMetrics, createWriteCounter } from "./operators/operator-metrics.ts";
import { Operators } from "./operators/operators.ts";
import { createOperatorProvider } from "./operators/provider.ts";
import { createProjectionMetrics } from "./projection/projection-metrics.ts";
import { Reconciler } from "./projection/reconciler.ts";

const MIGRATIONS = shippedFile("drizzle/routes");
const SCHEMA = "routes";

/** Stores that other services of this process use too. The registry does not close them. */
export interface GivenStores {
  database?: Database;
  routeStore?: RouteStore;
}

/** Builds the route registry, ready to start. */
export async function wireRegistry(
  config: RegistryConfig,
  given: GivenStores & { clock?: Clock } = {},
): Promise<Service> {
  const roles = config.ROLES_FILE === undefined ? null : loadRolesFile(config.ROLES_FILE);
  const telemetry = await createTelemetry({ name: "registry", namespace: "edge" }, config);
  const { closeStores, ...stores } = await openStores(config, given, telemetry);
  const clock = given.clock ?? systemClock;
  const { running, provider, publishing, ...parts } = partsOf(config, stores, { telemetry, roles, clock });
  const health = { draining: false };
  return {
    name: "registry",
    telemetry,
    health,
    ...createApp({ config, telemetry, health, publishing, roles, bundleConsole, ...parts }),
    async start() {
      const migrated = migrateAtStart(stores.database, SCHEMA, MIGRATIONS, telemetry.log);
      await Promise.all([migrated, checkRouteStore(stores.routeStore, telemetry.log)]);
      if (config.SEED_ROUTES_DIR !== undefined) {
        await seedRoutes(config.SEED_ROUTES_DIR, publishing, telemetry.log);
      }
      for (const each of running) each.start();
      provider?.start();
    },
    drain: () => publishing.propagations.endAll(),
    async stop() {
      provider?.stop();
      await Promise.all(running.map((each) => each.stop()));
      await parts.descriptions.stop();
      await closeStores();
    },
  };
}

/** Builds the parts that outlive a request. The service starts and stops the parts in `running`. */
function partsOf(
  config: RegistryConfig,
  { database, routeStore }: Required<GivenStores>,
  { telemetry, roles, clock }: { telemetry: Telemetry; roles: RolesFile | null; clock: Clock },
) {
  const { registry } = telemetry.metrics;
  const background = database.inBackground();
  const metrics = createProjectionMetrics(registry, background);
  const propagations = new Propagations({ database: background, routeStore, clock });
  const current = new CurrentTable(background);
  const { edge, descriptions, watchingDescriptions } = createEdge(config, current, telemetry, clock);
  const reconciler = new Reconciler({
    database: background,
    routeStore,
    log: telemetry.log,
    clock,
    intervalMs: config.RECONCILE_INTERVAL_MS,
    fullIntervalMs: config.RECONCILE_FULL_INTERVAL_MS,
    onAttempt: (result) => {
      metrics.countAttempt(result);
      propagations.wake();
      watchingDescriptions.wake();
    },
  });
  const publishing = {
    database,
    onCommit: () => reconciler.wake(),
    countWrites: createWriteCounter(registry),
    propagations,
    current,
    roles: roles?.roles ?? null,
  };
  const { operators, provider } = createOperators(config, telemetry, clock);
  const running = [reconciler, propagations, operators, watchingDescriptions];
  return { running, routeStore, current, edge, descriptions, publishing, operators, provider };
}

/** Builds the edge description and the loop that reads the descriptions of services. */
function createEdge(config: RegistryConfig, current: CurrentTable, { log }: Telemetry, clock: Clock) {
  const { EDGE_DOCUMENT_REFRESH_MS: refreshMs, EDGE_DOCUMENT_TITLE: title } = config;
  const descriptions = new ServiceDescriptions({ clock, log, refreshMs });
  const serverUrl = config.EDGE_DOCUMENT_SERVER_URL?.replace(/\/$/, "");
  return {
    descriptions,
    edge: new EdgeDescription({ current, descriptions, title, serverUrl }),
    watchingDescriptions: watchDescriptions(descriptions, current, refreshMs, clock),
  };
}

/** Builds the check of operators' tokens, and the identity provider if one is configured. */
function createOperators(config: RegistryConfig, { log, metrics }: Telemetry, clock: Clock) {
  const provider = createOperatorProvider(config, log, clock);
  const operators = new Operators({
    adminToken: config.ADMIN_TOKEN,
    file: config.OPERATORS_FILE,
    provider,
    clock,
    log,
  });
  addOperatorMetrics(metrics.registry, operators, provider);
  return { operators, provider };
}

/**
 * Throws if the route store refuses the connection or the read of the routes, for example because of wrong
 * credentials. If the route store is down, only logs a warning.
 */
async function checkRouteStore(routeStore: RouteStore, log: Logger): Promise<void> {
  try {
    await routeStore.summarize(ROUTES_PREFIX);
  } catch (error) {
    const { failure, refused } = routeStoreBootFailure(error);
    if (refused) throw failure;
    log.warn(
      {},
      "the route store (ROUTE_STORE_URL) does not respond: the registry is not ready until the store responds",
    );
  }
}

async function openStores(config: RegistryConfig, given: GivenStores, telemetry: Telemetry) {
  const observer = telemetry.observeStore;
  const database = await openConfigured(config, { namespace: SCHEMA, observer }, given.database);
  const routeStore =
    given.routeStore ??
    (await openRouteStore(config.ROUTE_STORE_URL, { observer, tls: peerTls(config, "ROUTE_STORE") }));
  return {
    database,
    routeStore,
    closeStores: async () => {
      if (given.routeStore === undefined) await routeStore.close();
      await database.close();
    },
  };
}
