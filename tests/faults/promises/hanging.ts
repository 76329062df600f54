import { KINDS } from "../clients.ts";
import { askedTheBroken, isExcused, ownTime } from "../record.ts";
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

/** A part that is slow, but within every deadline. */
export const slownessCostsNoRequest: Promised = {
  name: "slowness",
  title: "A part that answers late, within deadlines, costs time and no request.",
  timed: true,
  judge(run) {
    if (run.cell.fault !== "slowed") return null;
    return run.answers
      .filter(({ client, status }) => status === null || !KINDS[client].good.includes(status))
      .filter((answer) => !isExcused(answer))
      .map(({ client, status, started_ms }) => {
        return `${KINDS[client].title}: ${status ?? "no answer"} ${at(run, started_ms)}`;
      });
  },
};
