import { errorCode } from "../../domain/errors/index.ts";
import type { ConfigProblem } from "../config/index.ts";

/** A port that a process listens on, and the variable that says so. */
export interface PortUse {
  variable: string;
  host: string;
  port: number;
  /** Other processes may listen on it too (`REUSE_PORT`). */
  shared?: boolean;
}

/**
 * What is wrong with the ports of a process before anything is opened (contract 1): two that are the same, one
 * that another program uses, one that this user may not bind, a host that this machine does not have.
 */
export function portProblems(uses: readonly PortUse[]): ConfigProblem[] {
  const found = uses.flatMap((use, index) => {
    const twin = uses.slice(0, index).find(({ port }) => port !== 0 && port === use.port);
    return twin === undefined ? unusable(use) : [twice(use, twin)];
  });
  // a host that can not be bound is one problem, however many ports were to be bound to it
  return found.filter((problem, index) => found.findIndex((each) => isSame(each, problem)) === index);
}

/** The two ports of a service; a check for `loadConfig`. */
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

/** Nothing while host or port are wrong by themselves: they are told of already. */
export function usesOf(variable: string, host: string | undefined, port: number | undefined): PortUse[] {
  return host === undefined || port === undefined ? [] : [{ variable, host, port }];
}

/** The runtime has no code at all for a name that it can not resolve. */
const HOST_FAULTS: ReadonlySet<unknown> = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL", "ENOTFOUND"]);

/** What an operator is told when `error` kept a port from being opened. */
export function portProblem({ variable, host, port, shared }: PortUse, error: unknown): ConfigProblem {
  const code = errorCode(error);
  if (code === "EADDRINUSE") {
    const user = shared ? "a program that does not share it" : "another program";
    const message = `is ${port}, which is in use on ${host} by ${user}: stop that, or set another port.`;
    return { variable, message };
  }
  if (code === "EACCES" || code === "EPERM") {
    return { variable, message: `is ${port}, which this user may not bind: set a port above 1023.` };
  }
  if (code !== null && !HOST_FAULTS.has(code)) {
    return { variable, message: `is ${port}, which can not be opened (${code}).` };
  }
  const message = `is ${host}, which is no address of this machine: set one that it has, or 0.0.0.0 for all.`;
  return { variable: "HOST", message };
}

function twice({ variable, port }: PortUse, twin: PortUse): ConfigProblem {
  return { variable, message: `is ${port} like ${twin.variable}: each port needs a number of its own.` };
}

function isSame(one: ConfigProblem, other: ConfigProblem): boolean {
  return one.variable === other.variable && one.message === other.message;
}

/** Two processes that try the same port in the same moment must not both take the other for its owner. */
const ATTEMPTS = 3;
const PAUSE_MS_MIN = 10;
const PAUSE_MS_SPREAD = 50;

/**
 * Tries to bind. A shared port is not tried: whoever listens, however short, gets connections that are meant
 * for the others.
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

/** `http://host:port` of a server bound to `host`, as this machine reaches it. */
export function localOrigin(host: string, port: number): string {
  // bound to every address, it is reached by the loopback one; an IPv6 address is bracketed in a URL
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
