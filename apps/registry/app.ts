import { ApiError } from "@ostiary/lib/domain/errors";
import type { RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import {
  createHandler,
  equalSecrets,
  type HealthState,
  httpApp,
  probeRoutes,
  swaggerRoutes,
} from "@ostiary/lib/runtime/http";
import type { Listener } from "@ostiary/lib/runtime/service";
import type { RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import type { Telemetry } from "@ostiary/lib/runtime/telemetry";
import type { RegistryConfig } from "./config.ts";
import { documentRoutes } from "./documents/routes.ts";
import { gatewayRoutes } from "./gateways/routes.ts";
import { lookupRoutes } from "./lookup/routes.ts";
import type { ProjectionLag } from "./projection/lag.ts";
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
  return {
    public: { fetch: createHandler(publicApp(deps), { telemetry, request_id_on_response: true }) },
    internal: { fetch: createHandler(internal, { telemetry, request_id_on_response: true }) },
  };
}

function publicApp({ config, publishing, recheck, routeStore, roles }: AppDeps) {
  const body_bytes_max = bodyBytesMax(config);
  const app = httpApp({ body_bytes_max, parse_bodies: false })
    .onRequest(({ request }) => refuseWithoutToken(request, config.ADMIN_TOKEN))
    .use(documentRoutes(publishing, body_bytes_max))
    .use(schemaRoutes())
    .use(serviceRoutes(publishing, recheck, body_bytes_max))
    .use(revisionRoutes(publishing))
    .use(lookupRoutes(publishing.database, roles))
    .use(gatewayRoutes(publishing.database, routeStore));
  return config.SWAGGER_ENABLED ? app.use(swaggerRoutes(app, { ...swaggerOptions, body_bytes_max })) : app;
}

/** 0 is no limit. */
function bodyBytesMax({ MAX_BODY_BYTES }: RegistryConfig): number {
  return MAX_BODY_BYTES || Number.POSITIVE_INFINITY;
}

const BEARER = /^bearer +(\S+) *$/i;

/**
 * 401 for every path but the API's page and document and the schema, unknown paths included, unless the admin token is given
 * (Gateway specification, Authentication; contract 3).
 */
function refuseWithoutToken(request: Request, token: string): void {
  const given = BEARER.exec(request.headers.get("authorization") ?? "")?.[1];
  if (given !== undefined && equalSecrets(given, token)) return;
  if (isOpen(new URL(request.url).pathname)) return;
  throw new ApiError("UNAUTHORIZED", { kind: "auth", headers: { "WWW-Authenticate": "Bearer" } });
}

function isOpen(path: string): boolean {
  return path === "/swagger" || path.startsWith("/swagger/") || path === SCHEMA_PATH;
}
