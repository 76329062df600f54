import type { Cell } from "./cells.ts";
import { type Client, KINDS } from "./clients.ts";

/** What became of one request, one event of a stream, or one message of a WebSocket. Times are of one clock. */
export interface Answer {
  readonly client: Client;
  /** Which gateway was asked, or which registry for `publish`. */
  readonly replica: number;
  readonly started_ms: number;
  readonly ended_ms: number;
  /** Null: there was none, for the connection broke or the client lost its patience. */
  readonly status: number | null;
  /** How long the processes that it passed waited for a processor meanwhile, all together. */
  readonly delay_ms: number;
  /** Of a limited request that was counted. */
  readonly counted?: Counted;
}

export interface Counted {
  /** Whose count it is. */
  readonly bucket: string;
  /** As the answer's fields say. */
  readonly remaining: number;
  readonly reset_s: number;
}

/** A request as the service saw it. */
export interface Reached {
  readonly request_id: string;
  readonly client: Client;
  /** The owner's id in its path, and the id of who asked; both empty on a public route. */
  readonly owner: string;
  readonly caller: string;
}

/** What a gateway served of the service that is published again and again. */
export interface Served {
  readonly at_ms: number;
  readonly gateway: number;
  /** When the write of that version was sent. */
  readonly published_ms: number;
  /** How long the processes between that write and this gateway waited for a processor since the part's return. */
  readonly delay_ms: number;
}

/** Everything that was seen while one cell was run. */
export interface CellRun {
  readonly cell: Cell;
  readonly began_ms: number;
  /** The fault begins to be brought about; it holds from `broken_ms` on. */
  readonly breaking_ms: number;
  readonly broken_ms: number;
  /** It begins to be mended; the part answers again from `returned_ms` on. */
  readonly returning_ms: number;
  readonly returned_ms: number;
  readonly ended_ms: number;
  readonly answers: readonly Answer[];
  readonly reached: readonly Reached[];
  /** Outcomes of events by request id. */
  readonly events: ReadonlyMap<string, string>;
  readonly served: readonly Served[];
}

/** Processes that stood in line this long while a request was under way may have missed a limit by that alone. */
const DELAY_EXCUSED_MS = 200;

export function isGood({ client, status }: Pick<Answer, "client" | "status">): boolean {
  return status !== null && KINDS[client].good.includes(status);
}

/** Whether the machine may be to blame for what became of a request. */
export function isExcused({ delay_ms }: Answer): boolean {
  return delay_ms > DELAY_EXCUSED_MS;
}

/** What a request took, but for the time in which processes waited for a processor. */
export function ownTime({ started_ms, ended_ms, delay_ms }: Answer): number {
  return ended_ms - started_ms - delay_ms;
}

/** Whether a request went to a replica that is at fault. */
export function askedTheBroken({ parts }: Cell, { client, replica }: Answer): boolean {
  if (client === "publish") {
    return parts.includes("registries") || (parts.includes("registry") && replica === BROKEN_REPLICA);
  }
  return parts.includes("gateway") && replica === BROKEN_REPLICA;
}

/** The one of two that is broken. */
export const BROKEN_REPLICA = 0;

/** Whether a request needs something that is at fault. */
export function isConcerned(cell: Cell, answer: Answer): boolean {
  const { needs } = KINDS[answer.client];
  return askedTheBroken(cell, answer) || cell.parts.some((part) => needs.includes(part));
}

/** Answers to requests that were wholly within the time of the fault. */
export function withinFault({ answers, broken_ms, returning_ms }: CellRun): Answer[] {
  return answers.filter(({ started_ms, ended_ms }) => started_ms >= broken_ms && ended_ms <= returning_ms);
}
