import { endsWithin, pause, systemClock } from "../../async/index.ts";
import type { ListenConfig, TelemetryConfig } from "../config/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { listen } from "./ports.ts";
import type { Service } from "./service.ts";
import { readWhatCame, stopServer } from "./stop-server.ts";

type ListenOptions = Omit<ListenConfig, keyof TelemetryConfig> & {
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
  await readWhatCame();
  await endsWithin(internal.stop(), Math.max(0, untilMs - systemClock.elapsedMs()));
  await service.stop();
  await internal.stop(true);
  await service.telemetry.close();
}
