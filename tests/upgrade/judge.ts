import { KINDS } from "../faults/clients.ts";
import { disturbed } from "../faults/promises/goes-on.ts";
import { judge } from "../faults/promises/index.ts";
import type { CellRun } from "../faults/record.ts";
import type { Part } from "./orders.ts";

/** One step of an upgrade: both replicas of a part were replaced. */
export interface Step {
  readonly order: string;
  readonly part: Part;
  readonly run: CellRun;
}

/**
 * Returns how a step broke what is promised: a request failed, or a promise of `bun run faults` did not hold.
 * A gateway that stops ends event streams and WebSockets, as the guide says.
 */
export function brokenIn({ part, run }: Step): string[] {
  const ends = part === "gateway" ? ["stream", "socket"] : [];
  const lasting = { ...run, answers: run.answers.filter(({ client }) => !ends.includes(client)) };
  return [
    ...disturbed(lasting).map((failed) => `a request failed: ${failed}`),
    ...judge(run, { timed: false }).flatMap(({ promise, broken }) =>
      broken.map((how) => `${promise}: ${how}`),
    ),
  ];
}

/** Returns one line about a step. */
export function lineOf(step: Step): string {
  const { order, part, run } = step;
  const failed = disturbed(run).length;
  const took_s = ((run.returned_ms - run.breaking_ms) / 1000).toFixed(1);
  const { length } = run.answers;
  const ended =
    part === "gateway" ? `, ${failed} ends of streams and other failures` : `, ${failed} failures`;
  return `${order}: ${part} replaced in ${took_s} s, ${length} answers of ${Object.keys(KINDS).length} kinds of clients${ended}`;
}
