import { Elysia } from "elysia";
import type { Telemetry } from "../telemetry/index.ts";
import { type HealthState, Readiness, type ReadyChecks } from "./readiness.ts";

const LIVE = "/health/live";
const READY = "/health/ready";
const METRICS = "/metrics";

/** Asked every few seconds by machines: such calls are neither logged nor traced. */
const probes: ReadonlySet<string> = new Set([LIVE, READY, METRICS]);

export function isProbe(route: string): boolean {
  return probes.has(route);
}

/** `/health/live`, `/health/ready` and `/metrics` of an internal port (contract 1). */
export function internalRoutes(checks: ReadyChecks, state: HealthState, { log, metrics }: Telemetry) {
  const readiness = new Readiness(checks, state, log);
  return new Elysia({ name: "internal", normalize: false })
    .get(LIVE, () => ({ status: "healthy" }))
    .get(READY, async ({ status }) => {
      const unready = await readiness.probe();
      return unready === null
        ? { status: "healthy" as const }
        : status(503, { status: "unhealthy" as const, checks: unready });
    })
    .get(METRICS, async () => {
      return new Response(await metrics.text(), {
        headers: { "Content-Type": metrics.registry.contentType },
      });
    });
}
