import { askedTheBroken, type CellRun, isExcused, isGood, ownTime } from "../cell-run.ts";
import { isOfClock } from "../cells.ts";
import { KINDS } from "../clients.ts";
import { at, type Promised } from "./promise.ts";

/** The tolerance for network transfer and measurement, in addition to the gateway's own timeouts. */
const WAY_MS = 150;

export const nothingHangs: Promised = {
  name: "hangs",
  title: "No request takes longer than the timeouts of the parts that it needs.",
  timed: true,
  judge: (run) =>
    run.answers
      .filter((answer) => !askedTheBroken(run.cell, answer))
      .flatMap((answer) => {
        const { limitMs, title } = KINDS[answer.client];
        const ownMs = ownTime(answer);
        if (ownMs <= limitMs + WAY_MS) return [];
        return [
          `${title}: ${answer.status ?? "no answer"} after ${Math.round(ownMs)} ms ${at(run, answer.startedMs)}`,
        ];
      }),
};

export const clocksCostNoRequest: Promised = {
  name: "clocks",
  title: "No request fails when a clock jumps an hour ahead or back.",
  timed: false,
  judge: (run) => (isOfClock(run.cell) ? lostRequests(run) : null),
};

export const slownessCostsNoRequest: Promised = {
  name: "slowness",
  title: "No request fails when a part is slow, but faster than all timeouts.",
  timed: true,
  judge(run) {
    return run.cell.fault === "slowed" ? lostRequests(run) : null;
  },
};

function lostRequests(run: CellRun): string[] {
  return run.answers
    .filter((answer) => !isGood(answer) && !isExcused(answer))
    .map(({ client, status, startedMs }) => {
      return `${KINDS[client].title}: ${status ?? "no answer"} ${at(run, startedMs)}`;
    });
}
