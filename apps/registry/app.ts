import { ApiError } from "@ostiary/lib/domain/errors";
import type { RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import {
  createHandler,
  equalSecrets,
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
import type { RegistryConfig } from "./config.ts";
import { CONSOLE_PAGE, consoleRoutes } from "./console/routes.ts";
import { documentRoutes } from "./documents/routes.ts";
import type { EdgeDocument } from "./edge-document/edge-document.ts";
import { EDGE_DOCUMENT, EDGE_PAGE, edgeRoutes } from "./edge-document/routes.ts";
import type { ServiceDocuments } from "./edge-document/service-documents.ts";
import { gatewayRoutes } from "./gateways/routes.ts";
import type { CurrentTable } from "./lookup/current-table.ts";
import { lookupRoutes } from "./lookup/routes.ts";
import type { ProjectionLag } from "./projection/lag.ts";
import { projectionRoutes } from "./projection/routes.ts";
import type { Publishing } from "./publishing/publish.ts";
import { revisionRoutes } from "./revisions/routes.ts";
import { SCHEMA_PATH, schemaRoutes } from "./schema/routes.ts";
import type { Recheck } from "./services/recheck.ts";
import { serviceRoutes } from "./services/routes.ts";
import { swaggerOptions } from "./swagger.ts";

export interface AppDeps {
  config: RegistryConfig;
  telemetry: Telemetry;
  health: HealthState;
  publishing: Publishing;
  recheck: Recheck;
  routeStore: RouteStore;
  lag: ProjectionLag;
  /** null: none were given. */
  roles: RolesFile | null;
  current: CurrentTable;
  edge: EdgeDocument;
  documents: ServiceDocuments;
  /** The operators' page, which is made when it is first asked for. */
  bundleConsole: () => Promise<PageBundle>;
}

const PING_TIMEOUT_MS = 1_000;

/** The admin API and the internal port (Gateway specification, Endpoints). */
export function createApp(deps: AppDeps): { public: Listener; internal: Listener } {
  const { config, telemetry, health, publishing, routeStore, lag } = deps;
  const checks = {
    database: () => publishing.database.ping(PING_TIMEOUT_MS),
    route_store: () => routeStore.ping(PING_TIMEOUT_MS),
  };
  const internal = httpApp({ body_bytes_max: bodyBytesMax(config) }).use(
    probeRoutes(checks, health, telemetry, { projections: () => lag.warning() }),
  );
  const handler = {
    telemetry,
    health,
    request_id_on_response: true,
    requests_max: config.MAX_REQUESTS_IN_FLIGHT,
  };
  return {
    public: { fetch: createHandler(publicApp(deps), handler) },
    internal: { fetch: createHandler(internal, handler) },
  };
}

function publicApp(deps: AppDeps) {
  const { config, publishing, recheck, routeStore, lag, roles, current, edge, documents } = deps;
  const body_bytes_max = bodyBytesMax(config);
  const app = httpApp({ body_bytes_max, parse_bodies: false })
    .onRequest(({ request }) => refuseWithoutToken(request, config))
    .use(documentRoutes(publishing, body_bytes_max))
    .use(schemaRoutes())
    .use(serviceRoutes(publishing, recheck, body_bytes_max))
    .use(revisionRoutes(publishing))
    .use(lookupRoutes(current, roles))
    .use(
      edgeRoutes({
        edge,
        documents,
        title: config.EDGE_DOCUMENT_TITLE,
        page_enabled: config.SWAGGER_ENABLED,
      }),
    )
    .use(gatewayRoutes(publishing.database, routeStore))
    .use(projectionRoutes(lag));
  if (config.CONSOLE_ENABLED) app.use(consoleRoutes(deps.bundleConsole));
  return config.SWAGGER_ENABLED ? app.use(swaggerRoutes(app, { ...swaggerOptions, body_bytes_max })) : app;
}

/** 0 is no limit. */
function bodyBytesMax({ MAX_BODY_BYTES }: RegistryConfig): number {
  return MAX_BODY_BYTES || Number.POSITIVE_INFINITY;
}

const BEARER = /^bearer +(\S+) *$/i;

/**
 * 401 for every path but the pages, the API's document and the schema, unknown paths included, unless the admin token is given
 * (Gateway specification, Authentication; contract 3).
 */
function refuseWithoutToken(request: Request, config: RegistryConfig): void {
  const given = BEARER.exec(request.headers.get("authorization") ?? "")?.[1];
  if (given !== undefined && equalSecrets(given, config.ADMIN_TOKEN)) return;
  const { pathname } = new URL(request.url);
  if (OPEN_PATHS.has(pathname) || isPage(pathname, "/swagger") || isPage(pathname, EDGE_PAGE)) return;
  if (isPage(pathname, CONSOLE_PAGE)) return;
  if (pathname === EDGE_DOCUMENT && config.EDGE_DOCUMENT_PUBLIC) return;
  throw new ApiError("UNAUTHORIZED", { kind: "auth", headers: { "WWW-Authenticate": "Bearer" } });
}

const OPEN_PATHS = new Set(["/swagger/json", SCHEMA_PATH]);
