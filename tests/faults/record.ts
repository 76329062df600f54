import type { Cell } from "./cells.ts";
import { type Client, KINDS } from "./clients.ts";

/**
 * The end of one request, one event of a stream, or one message of a WebSocket. All times are of one clock.
 */
export interface Answer {
  readonly client: Client;
  /** The gateway that was called, or the registry for `publish`. */
  readonly replica: number;
  readonly started_ms: number;
  readonly ended_ms: number;
  /** The status; null when the connection broke or the client gave up. */
  readonly status: number | null;
  /** The time that the processes on its path waited for a processor, added up. */
  readonly delay_ms: number;
  /** The count of a limited request. */
  readonly counted?: Counted;
}

export interface Counted {
  /** The bucket of the count. */
  readonly bucket: string;
  /** The remaining requests, from the answer's headers. */
  readonly remaining: number;
  readonly reset_s: number;
}

/** A request as the service saw it. */
export interface Reached {
  readonly request_id: string;
  readonly client: Client;
  /** The owner's id in its path, and the id of the caller; both are empty on a public route. */
  readonly owner: string;
  readonly caller: string;
}

/** The version that a gateway served of the service that is published repeatedly. */
export interface Served {
  readonly at_ms: number;
  readonly gateway: number;
  /** The time at which the write of that version was sent. */
  readonly published_ms: number;
  /**
   * The time that the processes between that write and this gateway waited for a processor since the part's
   * return.
   */
  readonly delay_ms: number;
}

/** The findings of the receiver of audit streams. */
export interface StreamsSeen {
  /** The reasons for which the receiver could not prove a delivery. */
  readonly problems: readonly string[];
  /** The entries that were sealed and did not come. */
  readonly missing: readonly string[];
  /** Deliveries with entries that had come before, with the time that the processes waited for a processor before. */
  readonly repeats: readonly { readonly at_ms: number; readonly delay_ms: number }[];
}

/** Everything that was seen while one cell ran. */
export interface CellRun {
  readonly cell: Cell;
  readonly began_ms: number;
  /** The injection of the fault begins; the fault holds from `broken_ms` on. */
  readonly breaking_ms: number;
  readonly broken_ms: number;
  /** The repair begins; the part answers again from `returned_ms` on. */
  readonly returning_ms: number;
  readonly returned_ms: number;
  readonly ended_ms: number;
  readonly answers: readonly Answer[];
  readonly reached: readonly Reached[];
  /** The outcomes of events by request id. */
  readonly events: ReadonlyMap<string, string>;
  readonly served: readonly Served[];
  /** Null for a run without audit streams. */
  readonly streams: StreamsSeen | null;
}

/** A replica that waited this long for a processor may have lost the lease of a stream. */
export const REPEAT_EXCUSED_MS = 1_000;

/** Processes that waited this long for a processor during a request may have missed a limit by that alone. */
const DELAY_EXCUSED_MS = 200;

export function isGood({ client, status }: Pick<Answer, "client" | "status">): boolean {
  return status !== null && KINDS[client].good.includes(status);
}

/** Whether the machine may have caused the end of a request. */
export function isExcused({ delay_ms }: Answer): boolean {
  return delay_ms > DELAY_EXCUSED_MS;
}

/** Returns the time of a request without the time in which processes waited for a processor. */
export function ownTime({ started_ms, ended_ms, delay_ms }: Answer): number {
  return ended_ms - started_ms - delay_ms;
}

/** Whether a request went to a failed replica. */
export function askedTheBroken({ parts }: Cell, { client, replica }: Answer): boolean {
  if (client === "publish") {
    return parts.includes("registries") || (parts.includes("registry") && replica === BROKEN_REPLICA);
  }
  return parts.includes("gateway") && replica === BROKEN_REPLICA;
}

/** The replica of the two that fails. */
export const BROKEN_REPLICA = 0;

/** Whether a request needs a failed part. */
export function isConcerned(cell: Cell, answer: Answer): boolean {
  const { needs } = KINDS[answer.client];
  return askedTheBroken(cell, answer) || cell.parts.some((part) => needs.includes(part));
}

/** Returns the answers to requests that ran completely during the fault. */
export function withinFault({ answers, broken_ms, returning_ms }: CellRun): Answer[] {
  return answers.filter(({ started_ms, ended_ms }) => started_ms >= broken_ms && ended_ms <= returning_ms);
}
