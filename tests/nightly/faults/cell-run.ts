import type { Cell } from "./cells.ts";
import { type Client, KINDS } from "./clients.ts";

/**
 * The result of one request, or of one event of a stream, as the client saw it. All
 * times are readings of `performance.now()` in this process.
 */
export interface ClientResponse {
  readonly client: Client;
  /** The index of the called gateway; for `publish`, the index of the called registry. */
  readonly replica: number;
  readonly startedMs: number;
  readonly endedMs: number;
  /** The response status; null if the connection broke or the client's timeout expired. */
  readonly status: number | null;
  /** The total time that the processes on the request's path waited for CPU time. */
  readonly delayMs: number;
  readonly counted?: Counted;
}

export interface Counted {
  /** The subject whose requests are counted: a member's id. */
  readonly bucket: string;
  /** The value of `X-RateLimit-Remaining`; `resetS` is the value of `X-RateLimit-Reset`. */
  readonly remaining: number;
  readonly resetS: number;
}

export interface Reached {
  readonly request_id: string;
  readonly client: Client;
  /** The id of the owner in the path; `caller` is the id of the caller. Both are empty on a public route. */
  readonly owner: string;
  readonly caller: string;
}

/** A version of the repeatedly published service that a gateway served at one moment. */
export interface Served {
  readonly atMs: number;
  readonly gateway: number;
  /** The time at which the publisher sent the version to a registry. */
  readonly publishedMs: number;
}

/** The record of the receiver of audit streams during one cell. */
export interface StreamsSeen {
  /** The reasons why deliveries failed the receiver's verification. */
  readonly problems: readonly string[];
  readonly missing: readonly string[];
  readonly repeatsMs: readonly number[];
}

export interface CellRun {
  readonly cell: Cell;
  readonly beganMs: number;
  /** The start of the fault's injection, which is complete at `brokenMs`. */
  readonly breakingMs: number;
  readonly brokenMs: number;
  /** The start of the repair. The parts respond again at `returnedMs`. */
  readonly returningMs: number;
  readonly returnedMs: number;
  readonly endedMs: number;
  readonly responses: readonly ClientResponse[];
  readonly reached: readonly Reached[];
  readonly events: ReadonlyMap<string, string>;
  readonly served: readonly Served[];
  /** The record of the receiver of audit streams; null if the run has no audit streams. */
  readonly streams: StreamsSeen | null;
}

/**
 * The wait for CPU time above which a failed request is excused: the wait alone may have exceeded a timeout.
 */
const DELAY_EXCUSED_MS = 200;

export function isGood({ client, status }: Pick<ClientResponse, "client" | "status">): boolean {
  return status !== null && KINDS[client].good.includes(status);
}

/** Returns whether a failed request does not count, because the machine was too busy during it. */
export function isExcused({ delayMs }: ClientResponse): boolean {
  return delayMs > DELAY_EXCUSED_MS;
}

/** Returns the duration of a request minus the time that processes waited for CPU time. */
export function ownTime({ startedMs, endedMs, delayMs }: ClientResponse): number {
  return endedMs - startedMs - delayMs;
}

export function askedTheBroken({ parts }: Cell, { client, replica }: ClientResponse): boolean {
  if (client === "publish") {
    return parts.includes("registries") || (parts.includes("registry") && replica === BROKEN_REPLICA);
  }
  return parts.includes("gateway") && replica === BROKEN_REPLICA;
}

/** The index of the replica that fails when a fault affects only one of two replicas. */
export const BROKEN_REPLICA = 0;

/** Returns whether a request needs a failed part or was sent to a failed replica. */
export function isConcerned(cell: Cell, response: ClientResponse): boolean {
  const { needs } = KINDS[response.client];
  return askedTheBroken(cell, response) || cell.parts.some((part) => needs.includes(part));
}

export function withinFault({ responses, brokenMs, returningMs }: CellRun): ClientResponse[] {
  return responses.filter(({ startedMs, endedMs }) => startedMs >= brokenMs && endedMs <= returningMs);
}

/** Formats a time as the seconds since the beginning of the run. */
export function secondsInto({ beganMs }: CellRun, ms: number): string {
  return `at ${((ms - beganMs) / 1000).toFixed(2)} s`;
}
