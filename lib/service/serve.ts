import type { Logger } from "../telemetry/index.ts";
import { type Listener, type Service, StartRefused } from "./service.ts";

export interface ListenOptions {
  HOST: string;
  PORT: number;
  INTERNAL_PORT: number;
  SHUTDOWN_GRACE_MS: number;
  SHUTDOWN_TIMEOUT_MS: number;
}

/** A service that listens. */
export interface Running {
  readonly name: string;
  readonly port: number;
  readonly internal_port: number;
  /** Where faults of the process are told, if anywhere but on standard error. */
  readonly log?: Logger;
  /** Drains and stops in the order of contract 1; resolves when nothing of the service is left. */
  shutdown(): Promise<void>;
}

/** Bodies are counted by the services themselves, which answer with the envelope. */
const BODY_BYTES_UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Starts `service` and listens on both ports. */
export async function serve<Socket>(service: Service<Socket>, options: ListenOptions): Promise<Running> {
  const servers: Bun.Server<Socket | undefined>[] = [];
  try {
    await service.start();
    const internal = listen(service.internal, options.HOST, options.INTERNAL_PORT, "INTERNAL_PORT");
    servers.push(internal);
    const open = listen(service.public, options.HOST, options.PORT, "PORT");
    servers.unshift(open);
    const running = { port: portOf(open), internal_port: portOf(internal) };
    const { log } = service.telemetry;
    log.info(running, "listening");
    return {
      name: service.name,
      log,
      ...running,
      shutdown: () => shutdown(service, open, internal, options),
    };
  } catch (error) {
    // why it could not start is what counts; what fails while it is undone follows from that
    await Promise.allSettled(servers.map((server) => server.stop(true)));
    await Promise.allSettled([service.stop()]);
    await service.telemetry.close();
    throw error;
  }
}

function listen<Socket>(
  listener: Listener<Socket>,
  hostname: string,
  port: number,
  variable: string,
): Bun.Server<Socket> {
  try {
    return Bun.serve<Socket>({
      hostname,
      port,
      // else the runtime prints what breaks a response on purpose, and shows callers its error page
      development: false,
      idleTimeout: 0,
      maxRequestBodySize: BODY_BYTES_UNLIMITED,
      fetch: (request, server) => listener.fetch(request, server),
      websocket: listener.websocket ?? { message: () => {} },
    });
  } catch (cause) {
    throw new StartRefused(
      `Can not listen on ${hostname}:${port} (${variable}): ${listenFault(cause)}.`,
      cause,
    );
  }
}

function listenFault(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : null;
  if (code === "EADDRINUSE") return "the port is in use; stop what listens there or set another port";
  if (code === "EACCES") return "this user may not bind the port; set one above 1023";
  return "the address can not be bound; check HOST";
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
  await Bun.sleep(options.SHUTDOWN_GRACE_MS);
  service.drain?.();
  await stopWithin(open, options.SHUTDOWN_TIMEOUT_MS);
  await service.stop();
  await internal.stop(true);
  await service.telemetry.close();
}

/** Lets requests in flight finish; what is still open at the deadline is cut. */
async function stopWithin<Socket>(server: Bun.Server<Socket>, timeout_ms: number): Promise<void> {
  const deadline = Promise.withResolvers<void>();
  const timer = setTimeout(() => deadline.resolve(), timeout_ms);
  await Promise.race([server.stop(), deadline.promise]);
  clearTimeout(timer);
  await Promise.race([server.stop(true), Bun.sleep(FORCED_STOP_MS)]);
}

const FORCED_STOP_MS = 1_000;
