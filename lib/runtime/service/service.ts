import type { HealthState } from "../http/probes.ts";
import type { Telemetry } from "../telemetry/index.ts";

/** The handlers of a port. `fetch` also gets Bun's server, which provides client addresses and upgrades. */
export interface Listener<Socket = undefined> {
  fetch(request: Request, server: Bun.Server<Socket>): Response | undefined | Promise<Response | undefined>;
  websocket?: Bun.WebSocketHandler<Socket>;
}

/**
 * One of the four services, built by its `wire.ts` but not listening yet. The steps of its life are: `start`,
 * both ports open, requests, `health.draining`, the ports close, `stop`.
 */
export interface Service<Socket = undefined> {
  /** The `service.name` of logs and traces. */
  readonly name: string;
  readonly telemetry: Telemetry;
  /** The health state. While `draining` is set, the readiness endpoint returns 503. */
  readonly health: HealthState;
  readonly public: Listener<Socket>;
  readonly internal: Listener;
  /**
   * Runs migrations, loads initial data and starts background loops. Rejects if the service must not serve
   * requests.
   */
  start(): Promise<void>;
  /** Called with the public port when it is open. */
  listening?(port: number): void;
  /**
   * Ends connections that would not end by themselves. It is called shortly before the ports close. After
   * `timeoutMs`, the remaining connections are aborted.
   */
  drain?(timeoutMs: number): void;
  /** Stops background loops, flushes queues and closes the stores that `wire.ts` opened. */
  stop(): Promise<void>;
}

/**
 * A startup failure that the operator can fix. The process prints the message unchanged and exits with code
 * 78 (OP-5).
 */
export class StartRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StartRefused";
  }
}
