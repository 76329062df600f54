import { Elysia } from "elysia";
import type { Metrics } from "../telemetry/index.ts";

/** What readiness depends on: a name and a check that rejects when it does not hold. */
export type ReadyChecks = Readonly<Record<string, () => Promise<void>>>;

export interface HealthState {
  /** Set while the service drains: ready answers 503, requests are still served. */
  draining: boolean;
}

/** `/health/live`, `/health/ready` and `/metrics` of an internal port (contract 1). */
export function internalRoutes(checks: ReadyChecks, state: HealthState, metrics: Metrics) {
  return new Elysia({ name: "internal", normalize: false })
    .get("/health/live", () => ({ status: "healthy" }))
    .get("/health/ready", async ({ status }) => {
      const failed = await failedChecks(checks, state);
      return failed === null
        ? { status: "healthy" as const }
        : status(503, { status: "unhealthy" as const, checks: failed });
    })
    .get("/metrics", async () => {
      return new Response(await metrics.text(), {
        headers: { "Content-Type": metrics.registry.contentType },
      });
    });
}

async function failedChecks(checks: ReadyChecks, state: HealthState): Promise<Record<string, string> | null> {
  if (state.draining) return { service: "shutting down" };
  const results = await Promise.all(
    Object.entries(checks).map(([name, check]) =>
      check().then(
        () => [name, "ok"] as const,
        () => [name, "unavailable"] as const,
      ),
    ),
  );
  return results.every(([, result]) => result === "ok") ? null : Object.fromEntries(results);
}
