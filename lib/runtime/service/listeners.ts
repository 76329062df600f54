import { systemErrorCode } from "../../domain/errors/index.ts";
import { ConfigError, type ConfigProblem } from "../config/index.ts";
import type { Listener } from "./service.ts";

interface PortUse {
  variable: string;
  host: string;
  port: number;
  /** Whether other processes may listen on it (`REUSE_PORT`). */
  shared?: boolean;
}

/** Returns the problems before any port is opened (OP-4): equal ports, a port in use or not allowed, a wrong host. */
export function portProblems(uses: readonly PortUse[]): ConfigProblem[] {
  const found = uses.flatMap((use, index) => {
    const duplicate = uses.slice(0, index).find(({ port }) => port !== 0 && port === use.port);
    if (duplicate === undefined) return unusable(use);
    const message = `is ${use.port}, the same port as ${duplicate.variable}: set two different ports.`;
    return [{ variable: use.variable, message }];
  });
  // A host that cannot be bound is reported once, even if several ports use it.
  return found.filter((problem, index) => found.findIndex((each) => Bun.deepEquals(each, problem)) === index);
}

export function checkPorts(config: {
  HOST?: string;
  PORT?: number;
  INTERNAL_PORT?: number;
  REUSE_PORT?: boolean;
}): ConfigProblem[] {
  const { HOST: host, PORT, INTERNAL_PORT, REUSE_PORT: shared } = config;
  return portProblems([
    ...usesOf("PORT", host, PORT).map((use) => ({ ...use, shared })),
    ...usesOf("INTERNAL_PORT", host, INTERNAL_PORT),
  ]);
}

/** The list is empty if the host or port is invalid, which other checks report. */
export function usesOf(variable: string, host: string | undefined, port: number | undefined): PortUse[] {
  return host === undefined || port === undefined ? [] : [{ variable, host, port }];
}

/** An error without a code means that the host name cannot be resolved. */
const HOST_ERRORS: ReadonlySet<unknown> = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL", "ENOTFOUND"]);

function portProblem({ variable, host, port, shared }: PortUse, error: unknown): ConfigProblem {
  const code = systemErrorCode(error);
  if (code === "EADDRINUSE") {
    const user = shared ? "a program that does not share the port" : "another program";
    const message = `is ${port}, which is in use on ${host} by ${user}: stop that program, or set another port.`;
    return { variable, message };
  }
  if (code === "EACCES" || code === "EPERM") {
    return { variable, message: `is ${port}, which this user may not bind: set a port above 1023.` };
  }
  if (code !== null && !HOST_ERRORS.has(code)) {
    return { variable, message: `is ${port}, which cannot be opened (${code}).` };
  }
  const message = `is ${host}, which is not an address of this machine: set an address of this machine, or 0.0.0.0 for all addresses.`;
  return { variable: "HOST", message };
}

/** Does not test a shared port: even a short-lived listener would accept connections that are meant for others. */
function unusable(use: PortUse): ConfigProblem[] {
  if (use.shared) return [];
  try {
    Bun.listen({ hostname: use.host, port: use.port, socket: { data: () => {} } }).stop(true);
    return [];
  } catch (error) {
    return [portProblem(use, error)];
  }
}

/** Returns the `http://host:port` at which this machine can reach a server that is bound to `host`. */
export function localOrigin(host: string, port: number): string {
  // A server on all addresses is reachable at the loopback address. URLs need brackets around IPv6 addresses.
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** Services enforce their own limit, to return the error envelope. */
const BODY_BYTES_UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Throws a ConfigError that names the variable if the port cannot be opened (OP-4). */
export function listen<Socket>(listener: Listener<Socket>, use: PortUse): Bun.Server<Socket> {
  try {
    return Bun.serve<Socket>({
      hostname: use.host,
      port: use.port,
      // The runtime would share every port by default.
      reusePort: use.shared === true,
      // In development mode, the runtime shows its error page to callers, and prints responses that are aborted on
      // purpose.
      development: false,
      // Handlers set the timeouts of requests.
      idleTimeout: 0,
      maxRequestBodySize: BODY_BYTES_UNLIMITED,
      fetch: (request, server) => listener.fetch(request, server),
      // The runtime requires a handler even if no request is upgraded.
      websocket: listener.websocket ?? { message: () => {} },
    });
  } catch (error) {
    throw new ConfigError([portProblem(use, error)]);
  }
}
