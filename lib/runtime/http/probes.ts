import { Elysia } from "elysia";
import type { Logger, Telemetry } from "../telemetry/index.ts";

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
export function probeRoutes(
  checks: ReadyChecks,
  state: HealthState,
  { log, metrics }: Telemetry,
  warnings: ReadyWarnings = {},
) {
  const readiness = new Readiness(checks, state, log);
  return new Elysia({ name: "probes", normalize: false })
    .get(LIVE, () => ({ status: "healthy" }))
    .get(READY, async ({ status }) => {
      const [unready, warned] = await Promise.all([readiness.probe(), given(warnings)]);
      if (unready !== null) {
        return status(503, { status: "unhealthy" as const, checks: { ...unready, ...warned } });
      }
      return { status: "healthy" as const, ...(warned && { checks: warned }) };
    })
    .get(METRICS, async ({ request }) => {
      const { text, content_type } = await metrics.scrape(request.headers.get("accept"));
      return new Response(text, { headers: { "Content-Type": content_type } });
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

/** What readiness depends on: a name and a check that rejects when it does not hold. */
export type ReadyChecks = Readonly<Record<string, () => Promise<void>>>;

export interface HealthState {
  /** Set while the service drains: ready answers 503, requests are still served. */
  draining: boolean;
}

/** What keeps a service from being ready: each check with how it went. */
export type Unready = Readonly<Record<string, string>>;

/** Answers probes of readiness. They leave no lines in the log; a change of what they find leaves one. */
export class Readiness {
  readonly #checks: ReadyChecks;
  readonly #state: HealthState;
  readonly #log: Logger;
  /** Probes are numbered as they come. */
  #latest = 0;
  #told = 0;
  #failing = "";

  constructor(checks: ReadyChecks, state: HealthState, log: Logger) {
    this.#checks = checks;
    this.#state = state;
    this.#log = log;
  }

  /** Null when the service is ready. */
  async probe(): Promise<Unready | null> {
    this.#latest += 1;
    const number = this.#latest;
    const unready = this.#state.draining ? DRAINING : await failedChecks(this.#checks);
    // a probe that took longer than a later one tells of the past
    if (number > this.#told) {
      this.#told = number;
      this.#tell(unready);
    }
    return unready;
  }

  #tell(unready: Unready | null): void {
    const failing = unready === null ? "" : JSON.stringify(unready);
    if (failing === this.#failing) return;
    this.#failing = failing;
    if (unready === null) this.#log.info({}, "ready again");
    else if (unready === DRAINING) this.#log.info({ checks: unready }, "not ready");
    else this.#log.warn({ checks: unready }, "not ready");
  }
}

const DRAINING: Unready = { service: "shutting down" };

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
