import { systemErrorCode } from "../../domain/errors/index.ts";
import type { ConfigProblem } from "../config/index.ts";

/** A port on which a process listens, and the environment variable that sets it. */
export interface PortUse {
  variable: string;
  host: string;
  port: number;
  /** Whether other processes may listen on the same port (`REUSE_PORT`). */
  shared?: boolean;
}

/**
 * Returns the problems of a process's ports before any of them is opened (OP-4). The problems are two equal
 * ports, a port in use, a port that this user may not bind, and a host of another machine.
 */
export function portProblems(uses: readonly PortUse[]): ConfigProblem[] {
  const found = uses.flatMap((use, index) => {
    const twin = uses.slice(0, index).find(({ port }) => port !== 0 && port === use.port);
    return twin === undefined ? unusable(use) : [twice(use, twin)];
  });
  // A host that cannot be bound is reported once, even if several ports use it.
  return found.filter((problem, index) => found.findIndex((each) => Bun.deepEquals(each, problem)) === index);
}

/** Checks the two ports of a service for `loadConfig`. */
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

/** Returns a list with the port. The list is empty if the host or port is invalid, which other checks report. */
export function usesOf(variable: string, host: string | undefined, port: number | undefined): PortUse[] {
  return host === undefined || port === undefined ? [] : [{ variable, host, port }];
}

/**
 * The error codes for a host that cannot be used. An error without a code means that the host name cannot be
 * resolved.
 */
const HOST_ERRORS: ReadonlySet<unknown> = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL", "ENOTFOUND"]);

/** Returns the problem to report to the operator if opening the port failed with `error`. */
export function portProblem({ variable, host, port, shared }: PortUse, error: unknown): ConfigProblem {
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

function twice({ variable, port }: PortUse, twin: PortUse): ConfigProblem {
  return { variable, message: `is ${port}, the same port as ${twin.variable}: set two different ports.` };
}

/**
 * The number of attempts to bind. If two processes test a port at the same moment, each finds it in use. With
 * a single attempt, both would refuse to start.
 */
const ATTEMPTS = 3;
const PAUSE_MS_MIN = 10;
const PAUSE_MS_SPREAD = 50;

/**
 * Returns the problem of a port that cannot be bound, or an empty list. Does not test a shared port: even a
 * short-lived listener would accept connections that are meant for other processes.
 */
function unusable(use: PortUse): ConfigProblem[] {
  if (use.shared) return [];
  for (let attempt = 1; ; attempt += 1) {
    try {
      Bun.listen({ hostname: use.host, port: use.port, socket: { data: () => {} } }).stop(true);
      return [];
    } catch (error) {
      if (attempt === ATTEMPTS) return [portProblem(use, error)];
      Bun.sleepSync(PAUSE_MS_MIN + Math.random() * PAUSE_MS_SPREAD);
    }
  }
}

/** Returns the `http://host:port` at which this machine can reach a server that is bound to `host`. */
export function localOrigin(host: string, port: number): string {
  // A server that listens on all addresses is reachable at the loopback address. URLs need brackets around
  // IPv6 addresses.
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
