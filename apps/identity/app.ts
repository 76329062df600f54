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
import { apiKeysHandlers } from "./api-keys/handlers.ts";
import type { Dependencies } from "./dependencies.ts";
import { invitesHandlers } from "./invites/handlers.ts";
import { lifecycleHandlers } from "./lifecycle/handlers.ts";
import { memberHandlers, memberSelfHandlers, membersHandlers } from "./members/handlers.ts";
import { organizationsHandlers } from "./organizations/handlers.ts";
import { rolesHandlers } from "./roles/handlers.ts";
import { serviceAccountHandlers, serviceAccountsHandlers } from "./service-accounts/handlers.ts";
import { sessionsHandlers } from "./sessions/handlers.ts";
import { internalText, publicText } from "./swagger.ts";
import { usersHandlers } from "./users/handlers.ts";
import { validationHandlers } from "./validations/handlers.ts";
import { createValidationMetrics } from "./validations/metrics.ts";

/** The size limit of request bodies, which have a few short fields. A larger body is refused with 413. */
const BODY_BYTES_MAX = 64 * 1024;
const PING_TIMEOUT_MS = 500;

interface AppOptions {
  deps: Dependencies;
  telemetry: Telemetry;
  health: HealthState;
  internal_auth_token: string | undefined;
  swagger_enabled: boolean;
  /** The limit for requests in flight on each of the two ports. Undefined means no limit. */
  requests_max?: number;
}

/** Returns the handlers of the service's two ports. */
export function createApp(options: AppOptions) {
  return { public: publicHandler(options), internal: internalHandler(options) };
}

function publicHandler({ deps, telemetry, health, swagger_enabled, requests_max }: AppOptions) {
  const routes = new Elysia({ name: "identity", normalize: false })
    .use(usersHandlers(deps))
    .use(organizationsHandlers(deps))
    .use(membersHandlers(deps))
    .use(memberHandlers(deps))
    .use(memberSelfHandlers(deps))
    .use(invitesHandlers(deps))
    .use(serviceAccountsHandlers(deps))
    .use(serviceAccountHandlers(deps))
    .use(apiKeysHandlers(deps))
    .use(sessionsHandlers(deps))
    .use(rolesHandlers(deps));
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
    .use(validationHandlers(deps, createValidationMetrics(telemetry.metrics)))
    .use(lifecycleHandlers(deps));
  const app = httpApp({ body_bytes_max: BODY_BYTES_MAX })
    .use(internalToken(internal_auth_token))
    .use(probeRoutes({ database: ping }, health, telemetry))
    .use(routes);
  const served = swagger_enabled
    ? app.use(swaggerRoutes(routes, { ...internalText, body_bytes_max: BODY_BYTES_MAX }))
    : app;
  return createHandler(served, { telemetry, health, request_id_on_response: false, requests_max });
}
