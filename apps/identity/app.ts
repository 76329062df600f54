import {
  createHandler,
  type HealthState,
  httpApp,
  internalToken,
  probeRoutes,
  swaggerRoutes,
} from "@ostiary/lib/runtime/http";
import type { Telemetry } from "@ostiary/lib/runtime/telemetry";
import { Elysia } from "elysia";
import { apiKeysRoutes } from "./api-keys/routes.ts";
import type { Dependencies } from "./dependencies.ts";
import { invitesRoutes } from "./invites/routes.ts";
import { lifecycleRoutes } from "./lifecycle/routes.ts";
import { memberSelfRoutes, membersRoutes } from "./members/routes.ts";
import { organizationsRoutes } from "./organizations/routes.ts";
import { rolesRoutes } from "./roles/routes.ts";
import { serviceAccountsRoutes } from "./service-accounts/routes.ts";
import { sessionsRoutes } from "./sessions/routes.ts";
import { internalText, publicText } from "./swagger.ts";
import { usersRoutes } from "./users/routes.ts";
import { createValidationMetrics } from "./validations/metrics.ts";
import { validationRoutes } from "./validations/routes.ts";

/** Bodies are a few short fields; larger ones are 413. */
const BODY_BYTES_MAX = 64 * 1024;
const PING_TIMEOUT_MS = 500;

export interface AppOptions {
  deps: Dependencies;
  telemetry: Telemetry;
  health: HealthState;
  internal_auth_token: string | undefined;
  swagger_enabled: boolean;
  /** On each of the two ports; no limit without it. */
  requests_max?: number;
}

/** The identity service's two ports. */
export function createApp(options: AppOptions) {
  return { public: publicHandler(options), internal: internalHandler(options) };
}

function publicHandler({ deps, telemetry, health, swagger_enabled, requests_max }: AppOptions) {
  const routes = new Elysia({ name: "identity", normalize: false })
    .use(usersRoutes(deps))
    .use(organizationsRoutes(deps))
    .use(membersRoutes(deps))
    .use(memberSelfRoutes(deps))
    .use(invitesRoutes(deps))
    .use(serviceAccountsRoutes(deps))
    .use(apiKeysRoutes(deps))
    .use(sessionsRoutes(deps))
    .use(rolesRoutes(deps));
  const app = httpApp({ body_bytes_max: BODY_BYTES_MAX }).use(routes);
  const served = swagger_enabled
    ? app.use(swaggerRoutes(routes, { ...publicText, body_bytes_max: BODY_BYTES_MAX }))
    : app;
  return createHandler(served, { telemetry, health, request_id_on_response: false, requests_max });
}

function internalHandler(options: AppOptions) {
  const { deps, telemetry, health, internal_auth_token, swagger_enabled, requests_max } = options;
  const { database, validations } = deps;
  const ping = async () => {
    await Promise.all([database.ping(PING_TIMEOUT_MS), validations.ping(PING_TIMEOUT_MS)]);
  };
  const routes = new Elysia({ name: "identity-internal", normalize: false })
    .use(validationRoutes(deps, createValidationMetrics(telemetry.metrics)))
    .use(lifecycleRoutes(deps));
  const app = httpApp({ body_bytes_max: BODY_BYTES_MAX })
    .use(internalToken(internal_auth_token))
    .use(probeRoutes({ database: ping }, health, telemetry))
    .use(routes);
  const served = swagger_enabled
    ? app.use(swaggerRoutes(routes, { ...internalText, body_bytes_max: BODY_BYTES_MAX }))
    : app;
  return createHandler(served, { telemetry, health, request_id_on_response: false, requests_max });
}
