import { type Cell, isOfClock } from "../../faults/cells.ts";
import { CLIENTS, type Client, KINDS, LIMITS } from "../../faults/clients.ts";
import { type Answer, type CellRun, isConcerned } from "../../faults/record.ts";

/** The times of a run. The fault lasts from 10 s to 14 s, and the part is back at 15 s. */
export const TIMES = {
  began_ms: 0,
  breaking_ms: 9_900,
  broken_ms: 10_000,
  returning_ms: 14_000,
  returned_ms: 15_000,
  ended_ms: 25_000,
} as const;

/** The observations of streams that delivered every entry exactly once. */
export const NOTHING_SEEN = { problems: [], missing: [], repeats: [] };

export function anAnswer(client: Client, started_ms: number, more: Partial<Answer> = {}): Answer {
  const ended_ms = started_ms + 5;
  return {
    client,
    replica: 1,
    started_ms,
    ended_ms,
    status: KINDS[client].good[0] ?? null,
    delay_ms: 0,
    ...more,
  };
}

/** Returns a run of a cell that keeps all promises. `more` adds answers and replaces other fields. */
export function aRun(cell: Cell, more: Partial<CellRun> = {}): CellRun {
  const answers = CLIENTS.flatMap((client) =>
    Array.from({ length: 24 }, (_, second) => answerInTime(cell, client, 500 + second * 1_000)),
  );
  const served = [0, 1].map((gateway) => ({ at_ms: 15_900, gateway, published_ms: 15_500, delay_ms: 0 }));
  return {
    cell,
    ...TIMES,
    reached: [],
    events: new Map(),
    served,
    streams: NOTHING_SEEN,
    ...more,
    answers: [...answers, ...(more.answers ?? [])],
  };
}

/** Returns a good answer, or a timely 503 if the fault has stopped a part that the request needs. */
function answerInTime(cell: Cell, client: Client, started_ms: number): Answer {
  const answer = anAnswer(client, started_ms);
  const isBroken = started_ms >= TIMES.broken_ms && started_ms < TIMES.returned_ms;
  if (!isBroken || cell.fault === "slowed" || isOfClock(cell) || !isConcerned(cell, answer)) return answer;
  return { ...answer, status: 503, ended_ms: started_ms + 500 };
}

/** Returns the answers of one rate limit window: `remaining` counts down, then requests are refused. */
export function aWindow(started_ms: number, reset_s: number, admitted: number, refused: number): Answer[] {
  const counted = (remaining: number) => ({ counted: { bucket: "member", remaining, reset_s } });
  return [
    ...Array.from({ length: admitted }, (_, index) =>
      anAnswer("limited", started_ms + index, counted(LIMITS.requests - 1 - index)),
    ),
    ...Array.from({ length: refused }, (_, index) =>
      anAnswer("limited", started_ms + admitted + index, { ...counted(0), status: 429 }),
    ),
  ];
}
