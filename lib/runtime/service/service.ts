import type { HealthState } from "../http/probes.ts";
import type { Telemetry } from "../telemetry/index.ts";

/** What answers a port. `fetch` gets Bun's server, for addresses and upgrades. */
export interface Listener<Socket = undefined> {
  fetch(request: Request, server: Bun.Server<Socket>): Response | undefined | Promise<Response | undefined>;
  websocket?: Bun.WebSocketHandler<Socket>;
}

/**
 * One of the four services, built by its `wire.ts` and not yet listening. The order of its life: `start`,
 * both ports listen, requests, `health.draining`, ports close, `stop`.
 */
export interface Service<Socket = undefined> {
  /** `service.name`. */
  readonly name: string;
  readonly telemetry: Telemetry;
  /** Shared with the readiness endpoint, which answers 503 once `draining` is set. */
  readonly health: HealthState;
  readonly public: Listener<Socket>;
  readonly internal: Listener;
  /** Migrations, first loads, background loops. Rejects when the service must not serve. */
  start(): Promise<void>;
  /** Told the public port once it is open. */
  listening?(port: number): void;
  /**
   * Listening is about to stop: ends connections that would never end by themselves. What has not ended after
   * `timeout_ms` is cut.
   */
  drain?(timeout_ms: number): void;
  /** Ends background loops, flushes what is queued, closes the stores that its wire opened. */
  stop(): Promise<void>;
}

/** A refusal to start that an operator can mend: printed as it is, exit code 78 (contract 1). */
export class StartRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StartRefused";
  }
}
