import { CLIENTS, type Client } from "../faults/clients.ts";
import { disturbed } from "../faults/promises/goes-on.ts";
import { judge } from "../faults/promises/index.ts";
import { type Answer, type CellRun, isGood } from "../faults/record.ts";
import type { Part } from "./orders.ts";

/** One step of an upgrade: both replicas of a part were replaced. */
export interface Step {
  readonly order: string;
  readonly part: Part;
  readonly run: CellRun;
  /** The times in which replicas of a version closed their ports that may lose a request then; else empty. */
  readonly losing: readonly Closing[];
}

/** The time from the end of the grace of a process that stops until its end. Its ports close then. */
export interface Closing {
  readonly begins_ms: number;
  readonly ends_ms: number;
}

/** The clients whose connections a gateway ends when it stops. */
const ENDED: readonly Client[] = ["stream", "socket"];

interface Lost {
  readonly clients: readonly Client[];
  readonly status: number | null;
}

/**
 * The requests that call a part, and what their clients see when the part does not read a call: the gateway's 503 for its
 * own call, or no answer for a request.
 */
const LOST: Readonly<Record<Part, Lost>> = {
  audit: { clients: ["audited"], status: 503 },
  identity: { clients: ["unseen", "refused"], status: 503 },
  gateway: { clients: CLIENTS.filter((client) => client !== "publish"), status: null },
  registry: { clients: ["publish"], status: null },
};

/**
 * Returns how a step broke what is promised: a request failed, or a promise of `bun run faults` did not hold.
 * A gateway that stops ends event streams and WebSockets, as the guide says. An older service that closes its port may
 * lose a call that has just arrived, as the guide says too.
 */
export function brokenIn(step: Step): string[] {
  const { run } = step;
  const judged = run.answers.filter((answer) => !isEnd(step, answer) && !isLost(step, answer));
  return [
    ...disturbed({ ...run, answers: judged }).map((failed) => `a request failed: ${failed}`),
    ...judge(run, { timed: false }).flatMap(({ promise, broken }) =>
      broken.map((how) => `${promise}: ${how}`),
    ),
  ];
}

/** Whether an answer may be the end of a stream that a stopping gateway ended. */
function isEnd({ part }: Step, { client }: Answer): boolean {
  return part === "gateway" && ENDED.includes(client);
}

/** Whether an answer is that to a call which arrived while an older service closed its port. */
function isLost({ part, losing }: Step, { client, status, started_ms, ended_ms }: Answer): boolean {
  const lost = LOST[part];
  if (status !== lost.status || !lost.clients.includes(client)) return false;
  return losing.some(({ begins_ms, ends_ms }) => started_ms <= ends_ms && ended_ms >= begins_ms);
}

/** Returns one line about a step. */
export function lineOf(step: Step): string {
  const { order, part, run } = step;
  const took_s = ((run.returned_ms - run.breaking_ms) / 1000).toFixed(1);
  const failures = run.answers.filter((answer) => !isGood(answer) && answer.started_ms >= run.breaking_ms);
  const ends = failures.filter((answer) => isEnd(step, answer)).length;
  const lost = failures.filter((answer) => isLost(step, answer)).length;
  const counts = [
    `${run.answers.length} answers of ${CLIENTS.length} kinds of clients`,
    ...(ends > 0 ? [`${ends} streams ended`] : []),
    ...(lost > 0 ? [`${lost} calls lost by the version before`] : []),
    `${failures.filter((answer) => !isEnd(step, answer) && !isLost(step, answer)).length} other failures`,
  ];
  return `${order}: ${part} replaced in ${took_s} s, ${counts.join(", ")}`;
}
