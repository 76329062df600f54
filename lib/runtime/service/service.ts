import type { HealthState } from "../http/probes.ts";
import type { Telemetry } from "../telemetry/index.ts";

/** The handlers of a port. `fetch` gets Bun's server, for addresses and upgrades. */
export interface Listener<Socket = undefined> {
  fetch(request: Request, server: Bun.Server<Socket>): Response | undefined | Promise<Response | undefined>;
  websocket?: Bun.WebSocketHandler<Socket>;
  /** Serves HTTP/2 beside HTTP/1.1. Without it the port speaks HTTP/1.1 alone. */
  http2?: Http2Options;
}

interface Http2Options {
  /** The time after which a connection without streams is closed: at most 255 seconds. */
  readonly idleSeconds: number;
}

/**
 * One of the four services, built by its `wire.ts` and not yet listening. Its lifecycle: `start`, both ports
 * listen, requests, `health.draining`, ports close, `stop`.
 */
export interface Service<Socket = undefined> {
  /** The `service.name` of logs and traces. */
  readonly name: string;
  readonly telemetry: Telemetry;
  /** The state for the readiness endpoint, which answers 503 once `draining` is set. */
  readonly health: HealthState;
  readonly public: Listener<Socket>;
  readonly internal: Listener;
  /**
   * Runs migrations and first loads, and starts background loops. Rejects when the service must not serve.
   */
  start(): Promise<void>;
  /** Receives the public port once it is open. */
  listening?(port: number): void;
  /**
   * Ends connections that would not end by themselves, shortly before the ports close. Cuts the rest after
   * `timeout_ms`.
   */
  drain?(timeout_ms: number): void;
  /** Stops background loops, flushes queues and closes the stores that the wire opened. */
  stop(): Promise<void>;
}

/**
 * A refusal to start that an operator can solve. The message is printed unchanged; the exit code is 78
 * (OP-5).
 */
export class StartRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StartRefused";
  }
}
