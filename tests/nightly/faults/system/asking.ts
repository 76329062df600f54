import { INTERNAL_TOKEN_HEADER } from "@ostiary/lib/contracts/internal-api";
import type { Random } from "../../../support/random.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import type { Replica } from "./replica.ts";

export const ADMIN_TOKEN = "admin-token-of-these-runs";
export const INTERNAL_TOKEN = "internal-token-of-these-runs";
/** The timeout of a request. A request that timed out may still take effect. */
const PATIENCE_MS = 5_000;
/** The timeout of requests that are repeated until they succeed. */
const SURE_MS = 120_000;
const REQUEST_TIMEOUT = 408;
const TOO_MANY_REQUESTS = 429;

/** The error for a request that was certainly not sent, so that its operation did not happen. */
export class NeverSent extends Error {
  override readonly name = "NeverSent";
}

export interface Asked {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** The port to call; by default the public port. */
  readonly port?: "internal";
}

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body; null if the body is not JSON. */
  readonly body: unknown;
}

/** The headers with an operator's credential, for the registry. `AS_SERVICE` is for the identity service. */
export const AS_OPERATOR = { authorization: `Bearer ${ADMIN_TOKEN}` };
export const AS_SERVICE = { [INTERNAL_TOKEN_HEADER]: INTERNAL_TOKEN };

/**
 * Sends a request once, to a random replica that accepts a connection. Returns null if there is no response.
 * The request may then have taken effect, or may still take effect.
 *
 * @throws NeverSent if no replica accepts a connection
 */
export async function ask(
  replicas: readonly Replica[],
  random: Random,
  asked: Asked,
): Promise<ServiceResponse | null> {
  const first = random.below(replicas.length);
  for (const replica of [...replicas.slice(first), ...replicas.slice(0, first)]) {
    const response = await send(replica, asked);
    if (response !== "refused") return response;
  }
  // Pause, so that clients do not retry in a busy loop while both replicas are down.
  await Bun.sleep(PAUSE_MS);
  throw new NeverSent("No replica accepted a connection.");
}

const PAUSE_MS = 50;

async function send(replica: Replica, asked: Asked): Promise<ServiceResponse | null | "refused"> {
  const { method, path, headers, body, port } = asked;
  try {
    const response = await fetch((port === "internal" ? replica.internalUrl : replica.url) + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
      // The runtime would resend a request if a kept-alive connection breaks, and the history has only one
      // call.
      keepalive: false,
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: jsonOf(text) };
  } catch (error) {
    const isRefused = error instanceof Error && "code" in error && error.code === "ConnectionRefused";
    return isRefused ? "refused" : null;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Sends a request as {@link ask} does. Also returns null for responses that do not show whether the request
 * took effect, such as 503.
 */
export async function askSurely(
  replicas: readonly Replica[],
  random: Random,
  asked: Asked,
): Promise<ServiceResponse | null> {
  const response = await ask(replicas, random, asked);
  return response === null || isUnclear(response) ? null : response;
}

function isUnclear({ status }: ServiceResponse): boolean {
  return status >= 500 || status === TOO_MANY_REQUESTS || status === REQUEST_TIMEOUT;
}

/**
 * Repeats a request until it succeeds. Used for preparations, which are not part of a history.
 *
 * @param done a status that also counts as success, because an earlier attempt without a response may have
 * succeeded
 */
export function insist(
  replicas: readonly Replica[],
  random: Random,
  asked: Asked,
  done?: number,
): Promise<ServiceResponse> {
  return waitFor(
    async () => {
      const response = await ask(replicas, random, asked);
      if (response !== null && (response.status < 300 || response.status === done)) return response;
      throw new Error(JSON.stringify(response));
    },
    { timeoutMs: SURE_MS, what: `${asked.method} ${asked.path}` },
  );
}

/** Returns the value at a path in a JSON value, or undefined if there is none. */
export function memberOf(body: unknown, ...path: readonly (string | number)[]): unknown {
  let value = body;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = new Map(Object.entries(value)).get(String(name));
  }
  return value;
}

/**
 * Returns the string at a path in a JSON value.
 *
 * @throws Error if there is no string at the path
 */
export function textIn(body: unknown, ...path: readonly (string | number)[]): string {
  const value = memberOf(body, ...path);
  if (typeof value !== "string") throw new Error(`There is no ${path.join(".")} in ${JSON.stringify(body)}.`);
  return value;
}

export function numberIn(body: unknown, ...path: readonly (string | number)[]): number {
  const value = memberOf(body, ...path);
  if (typeof value !== "number") throw new Error(`There is no ${path.join(".")} in ${JSON.stringify(body)}.`);
  return value;
}

export function listIn(body: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const value = memberOf(body, ...path);
  if (!Array.isArray(value)) throw new Error(`There is no ${path.join(".")} in ${JSON.stringify(body)}.`);
  return value;
}

/** Throws an error about a response that the model does not know. */
export function unexpected(asked: Asked, response: ServiceResponse): never {
  throw new Error(`${asked.method} ${asked.path} got ${response.status}: ${JSON.stringify(response.body)}`);
}
