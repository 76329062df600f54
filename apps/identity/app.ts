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
import { admissionChangesHandlers } from "./admission-changes/admission-change-handlers.ts";
import { apiKeysHandlers } from "./api-keys/api-key-handlers.ts";
import type { Dependencies } from "./dependencies.ts";
import { internalText, publicText } from "./identity-swagger.ts";
import { invitesHandlers } from "./invites/invite-handlers.ts";
import { lifecycleHandlers } from "./lifecycle/lifecycle-handlers.ts";
import { memberHandlers, memberSelfHandlers, membersHandlers } from "./members/member-handlers.ts";
import { organizationsHandlers } from "./organizations/organization-handlers.ts";
import { rolesHandlers } from "./roles/role-handlers.ts";
import {
  serviceAccountHandlers,
  serviceAccountsHandlers,
} from "./service-accounts/service-account-handlers.ts";
import { sessionsHandlers } from "./sessions/session-handlers.ts";
import { usersHandlers } from "./users/user-handlers.ts";
import { validationHandlers } from "./validations/validation-handlers.ts";

/** The size limit of request bodies, which have a few short fields. A larger body is refused with 413. */
const BODY_BYTES_MAX = 64 * 1024;
const PING_TIMEOUT_MS = 500;

interface AppOptions {
  deps: Dependencies;
  telemetry: Telemetry;
  health: HealthState;
  internalAuthToken: string | undefined;
  swaggerEnabled: boolean;
  /** The limit for requests in flight on each of the two ports. Undefined means no limit. */
  requestsMax?: number;
}

/** Returns the handlers of the service's two ports. */
export function createApp(options: AppOptions) {
  const { telemetry, health, requestsMax } = options;
  const handler = { telemetry, health, requestIdOnResponse: false, requestsMax };
  return {
    public: createHandler(publicApp(options), handler),
    internal: createHandler(internalApp(options), handler),
  };
}

function publicApp({ deps, swaggerEnabled }: AppOptions) {
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
  const app = httpApp({ bodyBytesMax: BODY_BYTES_MAX }).use(routes);
  if (!swaggerEnabled) return app;
  return app.use(swaggerRoutes(routes, { ...publicText, bodyBytesMax: BODY_BYTES_MAX }));
}

function internalApp({ deps, telemetry, health, internalAuthToken, swaggerEnabled }: AppOptions) {
  const { database, validations } = deps;
  const ping = async () => {
    await Promise.all([database.ping(PING_TIMEOUT_MS), validations.ping(PING_TIMEOUT_MS)]);
  };
  const routes = new Elysia({ name: "identity-internal", normalize: false })
    .use(validationHandlers(deps))
    .use(admissionChangesHandlers(deps, health))
    .use(lifecycleHandlers(deps));
  const app = httpApp({ bodyBytesMax: BODY_BYTES_MAX })
    .use(internalToken(internalAuthToken))
    .use(probeRoutes({ database: ping }, health, telemetry))
    .use(routes);
  if (!swaggerEnabled) return app;
  return app.use(swaggerRoutes(routes, { ...internalText, bodyBytesMax: BODY_BYTES_MAX }));
}
