import { isAway } from "../cells.ts";
import { LIMITS } from "../clients.ts";
import { type Answer, askedTheBroken, type CellRun, isExcused, ownTime, withinFault } from "../record.ts";
import { at, type Promised } from "./promise.ts";

/** Returns the requests of audited routes while their intent could not be written. */
function unrecorded(run: CellRun): Answer[] | null {
  const { parts } = run.cell;
  if (!(parts.includes("audit") || parts.includes("postgres")) || !isAway(run.cell)) return null;
  return withinFault(run).filter(
    (answer) => answer.client === "audited" && !askedTheBroken(run.cell, answer),
  );
}

export const unrecordedIsRefused: Promised = {
  name: "fails-closed",
  title: "Without audit audited requests are refused.",
  timed: false,
  judge: (run) =>
    unrecorded(run)
      ?.filter(({ status }) => status !== 503)
      .filter((answer) => answer.status !== null || !isExcused(answer))
      .map(({ status, started_ms }) => `an audited request got ${status} ${at(run, started_ms)}`) ?? null,
};

export const unrecordedIsRefusedSoon: Promised = {
  name: "unrecorded",
  title: `Without audit audited requests are 503 within ${LIMITS.unrecorded_ms} ms.`,
  timed: true,
  judge: (run) =>
    unrecorded(run)
      ?.filter((answer) => ownTime(answer) > LIMITS.unrecorded_ms)
      .map(
        (answer) => `${answer.status} after ${Math.round(ownTime(answer))} ms ${at(run, answer.started_ms)}`,
      ) ?? null,
};

/** Returns the audited requests that reached the service without an event. */
export function withoutEvent({ reached, events }: CellRun): string[] {
  return reached
    .filter(({ client, request_id }) => client === "audited" && !events.has(request_id))
    .map(({ request_id }) => request_id);
}

export const everyRequestHasItsEvent: Promised = {
  name: "events",
  title: "Every audited request that reached a service has its event.",
  timed: false,
  judge: (run) => withoutEvent(run).map((request_id) => `no event of ${request_id}`),
};

/**
 * An event stays `pending` when audit stored its intent after the gateway had tried its outcome twice. Its
 * request was 503 and reached no service. Events whose gateway was killed with their outcomes stay `pending`
 * too.
 */
export const everyRequestHasItsOutcome: Promised = {
  name: "outcomes",
  title: "Their events get their outcomes, unless the gateway died.",
  timed: false,
  judge({ cell, reached, events }) {
    if (cell.parts.includes("gateway") && cell.fault === "killed") return null;
    return reached
      .filter(({ request_id }) => events.get(request_id) === "pending")
      .map(({ request_id }) => `the event of ${request_id} has no outcome`);
  },
};
