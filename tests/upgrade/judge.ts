import { type Client, KINDS } from "../faults/clients.ts";
import { disturbed } from "../faults/promises/goes-on.ts";
import { judge } from "../faults/promises/index.ts";
import type { Answer, CellRun } from "../faults/record.ts";
import type { Part } from "./orders.ts";

/** One step of an upgrade: both replicas of a part were replaced. */
export interface Step {
  readonly order: string;
  readonly part: Part;
  readonly run: CellRun;
  /** Whether the replaced version answers every request that arrives while it stops. */
  readonly drains_all: boolean;
}

/** The clients whose connections a gateway ends when it stops. */
const ENDED: readonly Client[] = ["stream", "socket"];

/** The answers to a request that a stopping service did not read: none, or the gateway's for it. */
const LOST: readonly (number | null)[] = [null, 503];

/**
 * Returns how a step broke what is promised: a request failed, or a promise of `bun run faults` did not hold.
 * A gateway that stops ends event streams and WebSockets, as the guide says. An older service that stops may close a
 * connection whose request has just arrived.
 */
export function brokenIn({ part, run, drains_all }: Step): string[] {
  const isLasting = ({ client, status }: Answer) =>
    !(part === "gateway" && ENDED.includes(client)) && (drains_all || !LOST.includes(status));
  const lasting = { ...run, answers: run.answers.filter(isLasting) };
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
