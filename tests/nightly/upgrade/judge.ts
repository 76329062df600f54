import { type CellRun, type ClientResponse, isGood } from "../faults/cell-run.ts";
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
 * Describes the violations in a step: failed requests, and broken promises of `bun run nightly faults`. The ends of
 * event streams at a stopping gateway are documented in the upgrade guide, and do not count.
 */
export function brokenIn(step: Step): string[] {
  const { run } = step;
  const judged = run.responses.filter((response) => !isEnd(step, response));
  return [
    ...disturbed({ ...run, responses: judged }).map((failed) => `a request failed: ${failed}`),
    ...judge(run, { timed: false }).flatMap(({ promise, broken }) =>
      broken.map((how) => `${promise}: ${how}`),
    ),
  ];
}

/** Returns whether a failure may be an event stream that a stopping gateway closed. */
function isEnd({ part }: Step, { client }: ClientResponse): boolean {
  return part === "gateway" && client === "stream";
}

export function lineOf(step: Step): string {
  const { order, part, run } = step;
  const tookS = ((run.returnedMs - run.breakingMs) / 1000).toFixed(1);
  const failures = run.responses.filter(
    (response) => !isGood(response) && response.startedMs >= run.breakingMs,
  );
  const ends = failures.filter((response) => isEnd(step, response)).length;
  const counts = [
    `${run.responses.length} responses of ${CLIENTS.length} kinds of clients`,
    ...(ends > 0 ? [`${ends} streams ended`] : []),
    `${failures.length - ends} other failures`,
  ];
  return `${order}: ${part} replaced in ${tookS} s, ${counts.join(", ")}`;
}
