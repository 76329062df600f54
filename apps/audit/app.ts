import type { Clock } from "@ostiary/lib/async";
import { BATCH_BYTES_MAX } from "@ostiary/lib/contracts/audit";
import { AUDIT_INTENTS_PATH, AUDIT_OUTCOMES_PATH } from "@ostiary/lib/contracts/internal-api";
import {
  createHandler,
  type HealthState,
  httpApp,
  internalToken,
  probeRoutes,
  swaggerRoutes,
} from "@ostiary/lib/runtime/http";
import type { Listener } from "@ostiary/lib/runtime/service";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Telemetry } from "@ostiary/lib/runtime/telemetry";
import { Elysia } from "elysia";
import { checkpointRoutes } from "./checkpoints/routes.ts";
import { eventRoutes } from "./events/routes.ts";
import type { Exports } from "./exports/export.ts";
import { internalText, publicText } from "./swagger.ts";
import type { EventWriter } from "./writes/commands.ts";
import { createWriteMetrics } from "./writes/metrics.ts";
import { writeRoutes } from "./writes/routes.ts";

export interface AuditAppDeps {
  telemetry: Telemetry;
  health: HealthState;
  /** Where the log is read. */
  reads: Database;
  /** Where readiness looks. */
  writes: Database;
  writer: EventWriter;
  clock: Clock;
  exports: Exports;
  internal_auth_token: string | undefined;
  swagger_enabled: boolean;
  /** On each of the two ports. */
  requests_max: number;
}

/** An intent is a few hundred bytes; one with the longest path, all of it in params, stays below. */
const BODY_BYTES_MAX = 65_536;
const READY_TIMEOUT_MS = 2_000;

/** The audit service's two ports. */
export function createApp(deps: AuditAppDeps): { public: Listener; internal: Listener } {
  const { telemetry, health, requests_max } = deps;
  const handler = { telemetry, health, request_id_on_response: false, requests_max };
  return {
    public: { fetch: createHandler(publicApp(deps), handler) },
    internal: { fetch: createHandler(internalApp(deps), handler) },
  };
}

function publicApp(deps: AuditAppDeps) {
  const routes = new Elysia({ name: "audit-reads", normalize: false })
    .use(eventRoutes({ database: deps.reads, exports: deps.exports }))
    .use(checkpointRoutes(deps.reads));
  const app = httpApp({ body_bytes_max: BODY_BYTES_MAX, refuse_repeated: false }).use(routes);
  if (!deps.swagger_enabled) return app;
  return app.use(swaggerRoutes(routes, { ...publicText, body_bytes_max: BODY_BYTES_MAX }));
}

function internalApp(deps: AuditAppDeps) {
  const { telemetry, health, writes, writer, clock, internal_auth_token, swagger_enabled } = deps;
  const metrics = createWriteMetrics(telemetry.metrics);
  const checks = { database: () => writes.ping(READY_TIMEOUT_MS) };
  const routes = writeRoutes({ writer, metrics, clock });
  const app = httpApp({
    body_bytes_max: BODY_BYTES_MAX,
    body_bytes_max_of: { [AUDIT_INTENTS_PATH]: BATCH_BYTES_MAX, [AUDIT_OUTCOMES_PATH]: BATCH_BYTES_MAX },
  })
    .use(internalToken(internal_auth_token))
    .use(routes)
    .use(probeRoutes(checks, health, telemetry));
  if (!swagger_enabled) return app;
  return app.use(swaggerRoutes(routes, { ...internalText, body_bytes_max: BODY_BYTES_MAX }));
}
