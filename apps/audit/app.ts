import type { Clock } from "@ostiary/lib/async";
import { BATCH_BYTES_MAX } from "@ostiary/lib/contracts/audit";
import {
  AUDIT_INTENTS_PATH,
  AUDIT_OUTCOMES_PATH,
  QUOTA_COUNTS_PATH,
} from "@ostiary/lib/contracts/internal-api";
import { QUOTA_LOOKUPS_BYTES_MAX, USAGE_BYTES_MAX } from "@ostiary/lib/contracts/usage-contract";
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
import { internalText, publicText } from "./audit-swagger.ts";
import { eventHandlers } from "./events/event-handlers.ts";
import type { Exports } from "./exports/export.ts";
import { logHandlers, type PublishedLog } from "./proof/index.ts";
import { type StreamHandlersDeps, streamHandlers } from "./streams/stream-handlers.ts";
import { internalUsageHandlers, REPORT_PATH } from "./usage/internal-handlers.ts";
import type { PlatformServices } from "./usage/usage-columns.ts";
import { usageHandlers } from "./usage/usage-handlers.ts";
import type { EventWriter } from "./writes/write-commands.ts";
import { writeHandlers } from "./writes/write-handlers.ts";

interface AuditAppDeps {
  telemetry: Telemetry;
  health: HealthState;
  reads: Database;
  writes: Database;
  writer: EventWriter;
  clock: Clock;
  exports: Exports;
  platform: PlatformServices;
  streams: StreamHandlersDeps;
  published: PublishedLog;
  internalAuthToken: string | undefined;
  swaggerEnabled: boolean;
  /** The maximum number of requests in flight on each of the two ports. */
  requestsMax: number;
}

/**
 * The size limit of a request body. Most intents take a few hundred bytes; an intent with the longest allowed
 * path also fits.
 */
const BODY_BYTES_MAX = 65_536;
const READY_TIMEOUT_MS = 2_000;

export function createApp(deps: AuditAppDeps): { public: Listener; internal: Listener } {
  const { telemetry, health, requestsMax } = deps;
  const handler = { telemetry, health, requestIdOnResponse: false, requestsMax };
  return {
    public: { fetch: createHandler(publicApp(deps), handler) },
    internal: { fetch: createHandler(internalApp(deps), handler) },
  };
}

function publicApp(deps: AuditAppDeps) {
  const routes = new Elysia({ name: "audit-reads", normalize: false })
    .use(eventHandlers(deps))
    .use(logHandlers(deps.published))
    .use(streamHandlers(deps.streams))
    .use(usageHandlers(deps));
  const app = httpApp({ bodyBytesMax: BODY_BYTES_MAX, refuseRepeated: false }).use(routes);
  if (!deps.swaggerEnabled) return app;
  return app.use(swaggerRoutes(routes, { ...publicText, bodyBytesMax: BODY_BYTES_MAX }));
}

function internalApp(deps: AuditAppDeps) {
  const { telemetry, health, writes, reads, internalAuthToken, swaggerEnabled } = deps;
  const { metrics } = telemetry;
  const ping = async () => {
    await Promise.all([writes.ping(READY_TIMEOUT_MS), reads.ping(READY_TIMEOUT_MS)]);
  };
  const routes = new Elysia({ name: "audit-internal", normalize: false })
    .use(writeHandlers({ ...deps, metrics }))
    .use(internalUsageHandlers({ ...deps, metrics }));
  const app = httpApp({
    bodyBytesMax: BODY_BYTES_MAX,
    bodyBytesMaxOf: {
      [AUDIT_INTENTS_PATH]: BATCH_BYTES_MAX,
      [AUDIT_OUTCOMES_PATH]: BATCH_BYTES_MAX,
      [REPORT_PATH]: USAGE_BYTES_MAX,
      [QUOTA_COUNTS_PATH]: QUOTA_LOOKUPS_BYTES_MAX,
    },
  })
    .use(internalToken(internalAuthToken))
    .use(routes)
    .use(probeRoutes({ database: ping }, health, telemetry));
  if (!swaggerEnabled) return app;
  return app.use(swaggerRoutes(routes, { ...internalText, bodyBytesMax: BODY_BYTES_MAX }));
}
