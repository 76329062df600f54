import { Elysia } from "elysia";
import type { Logger, Telemetry } from "../telemetry/index.ts";

const LIVE = "/health/live";
const READY = "/health/ready";
const METRICS = "/metrics";

/** The routes that machines call every few seconds. Successful calls are neither logged nor traced. */
const probes: ReadonlySet<string> = new Set([LIVE, READY, METRICS]);

export function isProbe(route: string): boolean {
  return probes.has(route);
}

/** Serves `/health/live`, `/health/ready` and `/metrics` on an internal port (OP-25, OP-26, OP-46). */
export function probeRoutes(checks: ReadyChecks, state: HealthState, { log, metrics }: Telemetry) {
  const probe = readinessProbe(checks, state, log);
  return new Elysia({ name: "probes", normalize: false })
    .get(LIVE, () => ({ status: "healthy" }))
    .get(READY, async ({ status }) => {
      const unready = await probe();
      if (unready !== null) return status(503, { status: "unhealthy" as const, checks: unready });
      return { status: "healthy" as const };
    })
    .get(METRICS, async ({ request }) => {
      const { text, contentType } = await metrics.scrape(request.headers.get("accept"));
      return new Response(text, { headers: { "Content-Type": contentType } });
    });
}

/** The readiness checks by name. A check fails by rejecting. */
export type ReadyChecks = Readonly<Record<string, () => Promise<void>>>;

export interface HealthState {
  /** Whether the service is draining: `/health/ready` returns 503, but requests are still served. */
  draining: boolean;
}

/** The result of each check (`ok` or `unavailable`) of a service that is not ready. */
type Unready = Readonly<Record<string, string>>;

/** Returns a function that runs the checks. It logs each change of the result, but not each probe. */
export function readinessProbe(
  checks: ReadyChecks,
  state: HealthState,
  log: Logger,
): () => Promise<Unready | null> {
  let latest = 0;
  let logged = 0;
  let failing = "";
  return async () => {
    latest += 1;
    const number = latest;
    const { draining } = state;
    const unready = draining ? { service: "shutting down" } : await failedChecks(checks);
    // A later probe may already have logged its result. The result of this slower probe is out of date.
    if (number <= logged) return unready;
    logged = number;
    const found = unready === null ? "" : JSON.stringify(unready);
    if (found === failing) return unready;
    failing = found;
    if (unready === null) log.info({}, "ready again");
    else log[draining ? "info" : "warn"]({ checks: unready }, "not ready");
    return unready;
  };
}

async function failedChecks(checks: ReadyChecks): Promise<Unready | null> {
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
