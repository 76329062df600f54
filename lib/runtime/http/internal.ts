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

/** What readiness tells though the service is ready: a name and what to say, null for nothing. */
export type ReadyWarnings = Readonly<Record<string, () => Promise<string | null>>>;

/** `/health/live`, `/health/ready` and `/metrics` of an internal port (contract 1). */
export function internalRoutes(
  checks: ReadyChecks,
  state: HealthState,
  { log, metrics }: Telemetry,
  warnings: ReadyWarnings = {},
) {
  const readiness = new Readiness(checks, state, log);
  return new Elysia({ name: "internal", normalize: false })
    .get(LIVE, () => ({ status: "healthy" }))
    .get(READY, async ({ status }) => {
      const [unready, warned] = await Promise.all([readiness.probe(), given(warnings)]);
      if (unready !== null) {
        return status(503, { status: "unhealthy" as const, checks: { ...unready, ...warned } });
      }
      return { status: "healthy" as const, ...(warned && { checks: warned }) };
    })
    .get(METRICS, async () => {
      return new Response(await metrics.text(), {
        headers: { "Content-Type": metrics.registry.contentType },
      });
    });
}

/** The warnings that there are, null for none. One that can not be worked out is none: a check says why. */
async function given(warnings: ReadyWarnings): Promise<Record<string, string> | null> {
  const results = await Promise.all(
    Object.entries(warnings).map(([name, warning]) =>
      warning().then(
        (text) => [name, text] as const,
        () => [name, null] as const,
      ),
    ),
  );
  const said = results.flatMap(([name, text]) => (text === null ? [] : [[name, text] as const]));
  return said.length === 0 ? null : Object.fromEntries(said);
}
