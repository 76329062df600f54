import { endsWithin, pause, systemClock } from "../../async/index.ts";
import type { ListenConfig, TelemetryConfig } from "../config/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { listen } from "./listeners.ts";
import type { Service } from "./service.ts";

export type ListenOptions = Omit<ListenConfig, keyof TelemetryConfig> & {
  /** The address of INTERNAL_PORT, if it is not HOST. */
  INTERNAL_HOST?: string;
  /** INTERNAL_PORT is never shared. */
  REUSE_PORT?: boolean;
};

export interface Running {
  readonly name: string;
  readonly port: number;
  readonly internal_port: number;
  /** Without this log, uncaught errors go to standard error. */
  readonly log?: Logger;
  switchLogLevel?(): void;
  /** Drains and stops the service in the order of OP-30. */
  shutdown(): Promise<void>;
}

/** If a port cannot be opened, the error names its variable. */
export async function serve<Socket>(
  service: Service<Socket>,
  options: ListenOptions,
  variables = { port: "PORT", internal_port: "INTERNAL_PORT" },
): Promise<Running> {
  let internal: Bun.Server<undefined> | undefined;
  try {
    await service.start();
    const { HOST: host, PORT: port, INTERNAL_PORT: internal_port, REUSE_PORT: shared } = options;
    const internalUse = { host: options.INTERNAL_HOST ?? host, port: internal_port };
    const server = listen(service.internal, { ...internalUse, variable: variables.internal_port });
    internal = server;
    const { log } = service.telemetry;
    const open = listen(service.public, { host, port, shared, variable: variables.port });
    const running = { port: portOf(open), internal_port: portOf(server) };
    service.listening?.(running.port);
    log.info(running, "listening");
    return {
      name: service.name,
      log,
      switchLogLevel: () => service.telemetry.switchLogLevel(),
      ...running,
      shutdown: () => shutdown(service, open, server, options),
    };
  } catch (error) {
    // Throw the first error, because it causes the errors during the cleanup.
    await Promise.allSettled([internal?.stop(true)]);
    await Promise.allSettled([service.stop()]);
    await service.telemetry.close();
    throw error;
  }
}

function portOf<Socket>(server: Bun.Server<Socket>): number {
  if (server.port === undefined) throw new Error("The server is not bound to a TCP port.");
  return server.port;
}

async function shutdown<Socket>(
  service: Service<Socket>,
  open: Bun.Server<Socket>,
  internal: Bun.Server<undefined>,
  options: ListenOptions,
): Promise<void> {
  service.health.draining = true;
  if (options.SHUTDOWN_GRACE_MS > 0) await pause(systemClock, options.SHUTDOWN_GRACE_MS);
  service.drain?.(options.SHUTDOWN_TIMEOUT_MS);
  const untilMs = systemClock.elapsedMs() + options.SHUTDOWN_TIMEOUT_MS;
  await stopServer(open, options.SHUTDOWN_TIMEOUT_MS);
  // Other services call the internal port. Calls in flight get a response before the stores close.
  await waitUntilQuiet();
  await endsWithin(internal.stop(), Math.max(0, untilMs - systemClock.elapsedMs()));
  await service.stop();
  await internal.stop(true);
  await service.telemetry.close();
}

const FORCED_STOP_MS = 1_000;

/** At the timeout, closes the connections that remain. */
async function stopServer<Socket>(server: Bun.Server<Socket>, timeoutMs: number): Promise<void> {
  await waitUntilQuiet();
  await endsWithin(server.stop(), timeoutMs);
  await endsWithin(server.stop(true), FORCED_STOP_MS);
}

/**
 * Waits until the event loop is quiet, so that requests that have already been sent get a response. When a port closes,
 * the runtime drops unread data, and the system resets connections that are not accepted yet. A busy loop ends the wait
 * after `WAIT_MS` and at least `ITERATIONS_MIN` iterations.
 */
export async function waitUntilQuiet(): Promise<void> {
  const beganMs = systemClock.elapsedMs();
  let iterations = 0;
  let quiet = 0;
  for (let nowMs = beganMs; quiet < QUIET_ITERATIONS; iterations += 1) {
    if (iterations >= ITERATIONS_MIN && nowMs - beganMs >= WAIT_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    const iterationMs = systemClock.elapsedMs() - nowMs;
    nowMs += iterationMs;
    quiet = iterationMs < QUIET_ITERATION_MS ? quiet + 1 : 0;
  }
}

/** An iteration with nothing to read takes about a twentieth of this time. */
const QUIET_ITERATION_MS = 0.15;
/** Some iterations do not poll for I/O, and the first can be the rest of the current one. */
const QUIET_ITERATIONS = 4;
const ITERATIONS_MIN = 4;
const WAIT_MS = 250;
