import type { HealthState } from "../http/probes.ts";
import type { Telemetry } from "../telemetry/index.ts";

/** The handlers of a port. `fetch` also gets Bun's server, which provides client addresses and upgrades. */
export interface Listener<Socket = undefined> {
  fetch(request: Request, server: Bun.Server<Socket>): Response | undefined | Promise<Response | undefined>;
  websocket?: Bun.WebSocketHandler<Socket>;
}

/** One of the four services. Its life: `start`, both ports open, requests, `health.draining`, ports close, `stop`. */
export interface Service<Socket = undefined> {
  readonly name: string;
  readonly telemetry: Telemetry;
  readonly health: HealthState;
  readonly public: Listener<Socket>;
  readonly internal: Listener;
  /** Runs migrations, loads data and starts loops. Rejects if the service must not serve requests. */
  start(): Promise<void>;
  /** Called with the public port when it is open. */
  listening?(port: number): void;
  /** Ends connections that would not end by themselves, shortly before the ports close. */
  drain?(timeoutMs: number): void;
  /** Stops background loops, flushes queues and closes the stores that `wire.ts` opened. */
  stop(): Promise<void>;
}

/** A failure that the operator can fix. The process prints the message unchanged and exits with code 78 (OP-5). */
export class StartRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StartRefused";
  }
}
