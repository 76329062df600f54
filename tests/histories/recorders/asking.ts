import { INTERNAL_TOKEN_HEADER } from "@ostiary/lib/contracts/internal-api";
import { INTERNAL_TOKEN } from "../../faults/system/people.ts";
import type { Replica } from "../../faults/system/replica.ts";
import { ADMIN_TOKEN } from "../../faults/system/system.ts";
import type { Random } from "../../support/random.ts";
import { waitFor } from "../../support/wait-for.ts";
import { NeverSent } from "../checker/history.ts";

/** The time after which a client gives a request up. The request may still take effect. */
const PATIENCE_MS = 5_000;
/** The time that a step outside of a history gets, whatever fails. */
const SURE_MS = 120_000;
const REQUEST_TIMEOUT = 408;
const TOO_MANY_REQUESTS = 429;

export interface Asked {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** The port of the replica; by default the public one. */
  readonly port?: "internal";
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON of the answer; null without any. */
  readonly body: unknown;
}

/** Credentials of operators for the registry, and of services for identity. */
export const AS_OPERATOR = { authorization: `Bearer ${ADMIN_TOKEN}` };
export const AS_SERVICE = { [INTERNAL_TOKEN_HEADER]: INTERNAL_TOKEN };

/**
 * Sends a request once, to one of the replicas that accepts a connection. Returns null when no answer came:
 * the request may have taken effect then, or may still do so.
 *
 * @throws NeverSent when no replica accepts a connection
 */
export async function ask(
  replicas: readonly Replica[],
  random: Random,
  asked: Asked,
): Promise<Answered | null> {
  const first = random.below(replicas.length);
  for (const replica of [...replicas.slice(first), ...replicas.slice(0, first)]) {
    const answered = await send(replica, asked);
    if (answered !== "refused") return answered;
  }
  // Otherwise clients would spin while both replicas are down.
  await Bun.sleep(PAUSE_MS);
  throw new NeverSent();
}

const PAUSE_MS = 50;

async function send(replica: Replica, asked: Asked): Promise<Answered | null | "refused"> {
  const { method, path, headers, body, port } = asked;
  try {
    const answer = await fetch((port === "internal" ? replica.internal_url : replica.url) + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
      // The runtime sends a request twice when a kept connection dies.
      keepalive: false,
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: jsonOf(text) };
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

/** Does the same, and returns null also for an answer that does not say whether the request took effect. */
export async function askSurely(
  replicas: readonly Replica[],
  random: Random,
  asked: Asked,
): Promise<Answered | null> {
  const answered = await ask(replicas, random, asked);
  return answered === null || isUnclear(answered) ? null : answered;
}

function isUnclear({ status }: Answered): boolean {
  return status >= 500 || status === TOO_MANY_REQUESTS || status === REQUEST_TIMEOUT;
}

/**
 * Repeats a request until it succeeds: for steps that no history contains. `done` is the status that says that an
 * earlier attempt without an answer has succeeded.
 */
export function insist(
  replicas: readonly Replica[],
  random: Random,
  asked: Asked,
  done?: number,
): Promise<Answered> {
  return waitFor(
    async () => {
      const answered = await ask(replicas, random, asked);
      if (answered !== null && (answered.status < 300 || answered.status === done)) return answered;
      throw new Error(JSON.stringify(answered));
    },
    { timeout_ms: SURE_MS, what: `${asked.method} ${asked.path}` },
  );
}

/** Returns a member of an answer by its path; undefined where the answer has none. */
export function memberOf(body: unknown, ...path: readonly (string | number)[]): unknown {
  let value = body;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = new Map(Object.entries(value)).get(String(name));
  }
  return value;
}

/** @throws when the answer has no such text */
export function textIn(body: unknown, ...path: readonly (string | number)[]): string {
  const value = memberOf(body, ...path);
  if (typeof value !== "string") throw new Error(`There is no ${path.join(".")} in ${JSON.stringify(body)}.`);
  return value;
}

/** @throws when the answer has no such number */
export function numberIn(body: unknown, ...path: readonly (string | number)[]): number {
  const value = memberOf(body, ...path);
  if (typeof value !== "number") throw new Error(`There is no ${path.join(".")} in ${JSON.stringify(body)}.`);
  return value;
}

/** @throws when the answer has no such list */
export function listIn(body: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const value = memberOf(body, ...path);
  if (!Array.isArray(value)) throw new Error(`There is no ${path.join(".")} in ${JSON.stringify(body)}.`);
  return value;
}

/** The error for an answer that no model knows. */
export function unexpected(asked: Asked, answered: Answered): never {
  throw new Error(`${asked.method} ${asked.path} was ${answered.status}: ${JSON.stringify(answered.body)}`);
}
