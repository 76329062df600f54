import { type Answer, type CellRun, isGood } from "../faults/cell-run.ts";
import { CLIENTS, type Client } from "../faults/clients.ts";
import { disturbed } from "../faults/promises/goes-on.ts";
import { judge } from "../faults/promises/index.ts";
import type { Part } from "./orders.ts";

/** One step of an upgrade: both replicas of one service are replaced. */
export interface Step {
  readonly order: string;
  readonly part: Part;
  readonly run: CellRun;
  /**
   * The intervals in which stopping replicas may lose requests. Empty for a version that drains all requests.
   */
  readonly losing: readonly Closing[];
}

/**
 * The interval in which a stopping process closes its ports: from the end of its grace period until it exits.
 */
export interface Closing {
  readonly beginsMs: number;
  readonly endsMs: number;
}

/** The clients whose connections a stopping gateway closes. */
const ENDED: readonly Client[] = ["stream", "socket"];

interface Lost {
  readonly clients: readonly Client[];
  readonly status: number | null;
}

/**
 * The clients that lose a request when a process of a part stops, and the status that they get. The status is
 * null if the client gets no response. If the gateway loses its call to a service, it responds with 503.
 */
const LOST: Readonly<Record<Part, Lost>> = {
  audit: { clients: ["audited"], status: 503 },
  identity: { clients: ["unseen", "refused"], status: 503 },
  gateway: { clients: CLIENTS.filter((client) => client !== "publish"), status: null },
  registry: { clients: ["publish"], status: null },
};

/**
 * Describes the violations in a step: failed requests, and broken promises of `bun run faults`. Two kinds of
 * failures are documented in the upgrade guide, and do not count. A stopping gateway closes event streams and
 * WebSockets. An older service may lose a request that arrives while it closes its port.
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

/** Returns whether a failure may be an event stream or WebSocket that a stopping gateway closed. */
function isEnd({ part }: Step, { client }: Answer): boolean {
  return part === "gateway" && ENDED.includes(client);
}

/** Returns whether a failure may be a request that an older service lost while it closed its port. */
function isLost({ part, losing }: Step, { client, status, startedMs, endedMs }: Answer): boolean {
  const lost = LOST[part];
  if (status !== lost.status || !lost.clients.includes(client)) return false;
  return losing.some(({ beginsMs, endsMs }) => startedMs <= endsMs && endedMs >= beginsMs);
}

/** Returns the progress line of a step. */
export function lineOf(step: Step): string {
  const { order, part, run } = step;
  const tookS = ((run.returnedMs - run.breakingMs) / 1000).toFixed(1);
  const failures = run.answers.filter((answer) => !isGood(answer) && answer.startedMs >= run.breakingMs);
  const ends = failures.filter((answer) => isEnd(step, answer)).length;
  const lost = failures.filter((answer) => isLost(step, answer)).length;
  const counts = [
    `${run.answers.length} answers of ${CLIENTS.length} kinds of clients`,
    ...(ends > 0 ? [`${ends} streams ended`] : []),
    ...(lost > 0 ? [`${lost} calls lost by the version before`] : []),
    `${failures.filter((answer) => !isEnd(step, answer) && !isLost(step, answer)).length} other failures`,
  ];
  return `${order}: ${part} replaced in ${tookS} s, ${counts.join(", ")}`;
}
