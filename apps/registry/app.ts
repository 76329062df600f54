import { ApiError } from "@ostiary/lib/domain/errors";
import type { RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import {
  createHandler,
  type HealthState,
  httpApp,
  isPage,
  type PageBundle,
  probeRoutes,
  swaggerRoutes,
} from "@ostiary/lib/runtime/http";
import type { Listener } from "@ostiary/lib/runtime/service";
import type { RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import type { Telemetry } from "@ostiary/lib/runtime/telemetry";
import { changeHandlers } from "./changes/change-handlers.ts";
import type { RegistryConfig } from "./config.ts";
import { CONSOLE_PAGE, CONSOLE_RETURN, consoleHandlers, consoleSite } from "./console/console-handlers.ts";
import { documentSchemaHandlers, SCHEMA_PATH } from "./document-schema/document-schema-handlers.ts";
import { documentHandlers } from "./documents/document-handlers.ts";
import type { EdgeDescription } from "./edge-description/edge-description.ts";
import { EDGE_DESCRIPTION, EDGE_PAGE, edgeHandlers } from "./edge-description/edge-description-handlers.ts";
import { gatewayHandlers } from "./gateways/gateway-handlers.ts";
import type { CurrentTable } from "./lookup/current-table.ts";
import { lookupHandlers } from "./lookup/lookup-handlers.ts";
import { admitOperator, refuseWriteOfReader } from "./operators/access.ts";
import { operatorHandlers } from "./operators/operator-handlers.ts";
import type { Operators } from "./operators/operators.ts";
import { projectionHandlers } from "./projection/projection-handlers.ts";
import type { Publishing } from "./publishing/publish.ts";
import { swaggerOptions } from "./registry-swagger.ts";
import { revisionHandlers } from "./revisions/revision-handlers.ts";
import { serviceHandlers } from "./services/service-handlers.ts";

interface AppDeps {
  config: RegistryConfig;
  telemetry: Telemetry;
  health: HealthState;
  publishing: Publishing;
  operators: Operators;
  routeStore: RouteStore;
  /** The roles of ROLES_FILE, or null if the variable is not set. */
  roles: RolesFile | null;
  current: CurrentTable;
  edge: EdgeDescription;
  /** Bundles the console when it is first requested. */
  bundleConsole: () => Promise<PageBundle>;
}

const PING_TIMEOUT_MS = 1_000;

/** Builds the HTTP apps of the admin port and the internal port (RG-1). */
export function createApp(deps: AppDeps): { public: Listener; internal: Listener } {
  const { config, telemetry, health, publishing, routeStore } = deps;
  const checks = {
    database: () => publishing.database.ping(PING_TIMEOUT_MS),
    route_store: () => routeStore.ping(PING_TIMEOUT_MS),
  };
  const internal = httpApp({ bodyBytesMax: bodyLimit(config) }).use(probeRoutes(checks, health, telemetry));
  const handler = {
    telemetry,
    health,
    requestIdOnResponse: true,
    requestsMax: config.MAX_REQUESTS_IN_FLIGHT,
  };
  return {
    public: { fetch: createHandler(publicApp(deps), handler) },
    internal: { fetch: createHandler(internal, handler) },
  };
}

function publicApp(deps: AppDeps) {
  const { config, publishing, operators, routeStore, roles, current, edge } = deps;
  const bodyBytesMax = bodyLimit(config);
  const app = httpApp({ bodyBytesMax, parseBodies: false })
    .onRequest(async ({ request }) => refuseWithoutToken(request, deps))
    .onTransform({ as: "global" }, ({ request }) => refuseWriteOfReader(request))
    .use(documentHandlers(publishing, bodyBytesMax))
    .use(documentSchemaHandlers())
    .use(serviceHandlers(publishing, bodyBytesMax))
    .use(revisionHandlers(publishing))
    .use(lookupHandlers(current, roles))
    .use(
      edgeHandlers({
        edge,
        title: config.EDGE_DOCUMENT_TITLE,
        pageEnabled: config.SWAGGER_ENABLED,
      }),
    )
    .use(gatewayHandlers(publishing.database, routeStore))
    .use(projectionHandlers(publishing.database))
    .use(operatorHandlers(operators))
    .use(changeHandlers(publishing.database));
  if (config.CONSOLE_ENABLED) app.use(consoleHandlers(consoleSite(config), deps.bundleConsole));
  return config.SWAGGER_ENABLED ? app.use(swaggerRoutes(app, { ...swaggerOptions, bodyBytesMax })) : app;
}

/** Returns the limit of a request body in bytes; `MAX_BODY_BYTES=0` means no limit. */
function bodyLimit({ MAX_BODY_BYTES }: RegistryConfig): number {
  return MAX_BODY_BYTES || Number.POSITIVE_INFINITY;
}

/**
 * Refuses a request that carries no operator's token: 401, also at an unknown path (RG-1). The registry's description,
 * the document schema and the pages need no token. The edge description needs no token if EDGE_DOCUMENT_PUBLIC is set.
 */
async function refuseWithoutToken(request: Request, { config, operators }: AppDeps): Promise<void> {
  const isOpen = isOpenPath(new URL(request.url).pathname, config);
  const refusal = await admitOperator(request, operators).catch((error: unknown) => {
    if (isOpen) return null;
    throw error;
  });
  if (refusal === null || isOpen) return;
  const headers = { "WWW-Authenticate": "Bearer" };
  throw new ApiError("UNAUTHORIZED", { kind: "auth", headers, cause: refusal });
}

function isOpenPath(pathname: string, { EDGE_DOCUMENT_PUBLIC, CONSOLE_CLIENT_ID }: RegistryConfig): boolean {
  if (pathname === CONSOLE_RETURN && CONSOLE_CLIENT_ID !== undefined) return true;
  if (OPEN_PATHS.has(pathname) || isPage(pathname, "/swagger") || isPage(pathname, EDGE_PAGE)) return true;
  return isPage(pathname, CONSOLE_PAGE) || (pathname === EDGE_DESCRIPTION && EDGE_DOCUMENT_PUBLIC);
}

const OPEN_PATHS = new Set(["/swagger/json", SCHEMA_PATH]);
