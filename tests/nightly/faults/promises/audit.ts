import { type Answer, askedTheBroken, type CellRun, isExcused, ownTime, withinFault } from "../cell-run.ts";
import { isAway } from "../cells.ts";
import { LIMITS } from "../clients.ts";
import { at, type Promised } from "./promise.ts";

/**
 * Returns the answers to audited requests that ran while no intent could be stored. Returns null if the fault
 * of the cell does not prevent audit from storing intents.
 */
function unrecorded(run: CellRun): Answer[] | null {
  const { parts } = run.cell;
  if (!(parts.includes("audit") || parts.includes("postgres")) || !isAway(run.cell)) return null;
  return withinFault(run).filter(
    (answer) => answer.client === "audited" && !askedTheBroken(run.cell, answer),
  );
}

export const unrecordedIsRefused: Promised = {
  name: "fails-closed",
  title: "Without audit, audited requests are refused.",
  timed: false,
  judge: (run) =>
    unrecorded(run)
      ?.filter(({ status }) => status !== 503)
      .filter((answer) => answer.status !== null || !isExcused(answer))
      .map(({ status, startedMs }) => `an audited request got ${status} ${at(run, startedMs)}`) ?? null,
};

export const unrecordedIsRefusedSoon: Promised = {
  name: "unrecorded",
  title: `Without audit, audited requests get 503 within ${LIMITS.unrecordedMs} ms.`,
  timed: true,
  judge: (run) =>
    unrecorded(run)
      ?.filter((answer) => ownTime(answer) > LIMITS.unrecordedMs)
      .map(
        (answer) => `${answer.status} after ${Math.round(ownTime(answer))} ms ${at(run, answer.startedMs)}`,
      ) ?? null,
};

/**
 * Returns the ids of audited requests that reached the service although the audit log has no event for them.
 */
function withoutEvent({ reached, events }: CellRun): string[] {
  return reached
    .filter(({ client, request_id }) => client === "audited" && !events.has(request_id))
    .map(({ request_id }) => request_id);
}

export const everyRequestHasItsEvent: Promised = {
  name: "events",
  title: "Every audited request that reached a service has an event.",
  timed: false,
  judge: (run) => withoutEvent(run).map((request_id) => `no event for the request ${request_id}`),
};

export const everyRequestHasItsOutcome: Promised = {
  name: "outcomes",
  title: "The event of every request that reached a service gets its outcome, unless its gateway is killed.",
  timed: false,
  judge({ cell, reached, events }) {
    if (cell.parts.includes("gateway") && cell.fault === "killed") return null;
    return reached
      .filter(({ request_id }) => events.get(request_id) === "pending")
      .map(({ request_id }) => `the event of the request ${request_id} has no outcome`);
  },
};
