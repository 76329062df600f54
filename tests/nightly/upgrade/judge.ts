import { type Answer, type CellRun, isGood } from "../faults/cell-run.ts";
import { CLIENTS } from "../faults/clients.ts";
import { disturbed, judge } from "../faults/promises/promises.ts";
import type { Part } from "./orders.ts";

/** One step of an upgrade: both replicas of one service are replaced. */
export interface Step {
  readonly order: string;
  readonly part: Part;
  readonly run: CellRun;
}

/**
 * Describes the violations in a step: failed requests, and broken promises of `bun run nightly faults`. The ends of event
 * streams at a stopping gateway are documented in the upgrade guide, and do not count.
 */
export function brokenIn(step: Step): string[] {
  const { run } = step;
  const judged = run.answers.filter((answer) => !isEnd(step, answer));
  return [
    ...disturbed({ ...run, answers: judged }).map((failed) => `a request failed: ${failed}`),
    ...judge(run, { timed: false }).flatMap(({ promise, broken }) =>
      broken.map((how) => `${promise}: ${how}`),
    ),
  ];
}

/** Returns whether a failure may be an event stream that a stopping gateway closed. */
function isEnd({ part }: Step, { client }: Answer): boolean {
  return part === "gateway" && client === "stream";
}

export function lineOf(step: Step): string {
  const { order, part, run } = step;
  const tookS = ((run.returnedMs - run.breakingMs) / 1000).toFixed(1);
  const failures = run.answers.filter((answer) => !isGood(answer) && answer.startedMs >= run.breakingMs);
  const ends = failures.filter((answer) => isEnd(step, answer)).length;
  const counts = [
    `${run.answers.length} answers of ${CLIENTS.length} kinds of clients`,
    ...(ends > 0 ? [`${ends} streams ended`] : []),
    `${failures.length - ends} other failures`,
  ];
  return `${order}: ${part} replaced in ${tookS} s, ${counts.join(", ")}`;
}
