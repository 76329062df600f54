import { isOfClock } from "../cells.ts";
import { KINDS } from "../clients.ts";
import { askedTheBroken, type CellRun, isExcused, isGood, ownTime } from "../record.ts";
import { at, type Promised } from "./promise.ts";

/** The time that transfer and measurement may add to the gateway's own limits. */
const WAY_MS = 150;

/** Clients of a replica that is frozen or behind a dead line are left out: nobody can answer them. */
export const nothingHangs: Promised = {
  name: "hangs",
  title: "No request takes longer than the limits of what it needs.",
  timed: true,
  judge: (run) =>
    run.answers
      .filter((answer) => !askedTheBroken(run.cell, answer))
      .flatMap((answer) => {
        const { limit_ms, title } = KINDS[answer.client];
        const own_ms = ownTime(answer);
        if (limit_ms === null || own_ms <= limit_ms + WAY_MS) return [];
        return [
          `${title}: ${answer.status ?? "no answer"} after ${Math.round(own_ms)} ms ${at(run, answer.started_ms)}`,
        ];
      }),
};

/** A clock that is set measures no duration and ends nothing early. */
export const clocksCostNoRequest: Promised = {
  name: "clocks",
  title: "A clock that is set an hour ahead or back costs no request.",
  timed: false,
  judge: (run) => (isOfClock(run.cell) ? lostRequests(run) : null),
};

/** A part that is slow, but within every deadline. */
export const slownessCostsNoRequest: Promised = {
  name: "slowness",
  title: "A part that answers late, within deadlines, costs time and no request.",
  timed: true,
  judge(run) {
    return run.cell.fault === "slowed" ? lostRequests(run) : null;
  },
};

function lostRequests(run: CellRun): string[] {
  return run.answers
    .filter((answer) => !isGood(answer) && !isExcused(answer))
    .map(({ client, status, started_ms }) => {
      return `${KINDS[client].title}: ${status ?? "no answer"} ${at(run, started_ms)}`;
    });
}
