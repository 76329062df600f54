import { type Answer, type CellRun, isConcerned } from "../cell-run.ts";
import { type Cell, isOfClock } from "../cells.ts";
import { CLIENTS, type Client, KINDS, LIMITS } from "../clients.ts";

/** The times of a run. The fault lasts from 10 s to 14 s, and the failed part is back at 15 s. */
export const TIMES = {
  beganMs: 0,
  breakingMs: 9_900,
  brokenMs: 10_000,
  returningMs: 14_000,
  returnedMs: 15_000,
  endedMs: 25_000,
} as const;

/** The observations of streams that delivered every entry exactly once. */
export const NOTHING_SEEN = { problems: [], missing: [], repeatsMs: [] };

export function anAnswer(client: Client, startedMs: number, more: Partial<Answer> = {}): Answer {
  const endedMs = startedMs + 5;
  return {
    client,
    replica: 1,
    startedMs,
    endedMs,
    status: KINDS[client].good[0] ?? null,
    delayMs: 0,
    ...more,
  };
}

/** Returns a run of a cell that keeps all promises. `more` adds answers and replaces other fields. */
export function aRun(cell: Cell, more: Partial<CellRun> = {}): CellRun {
  const answers = CLIENTS.flatMap((client) =>
    Array.from({ length: 24 }, (_, second) => answerInTime(cell, client, 500 + second * 1_000)),
  );
  const served = [0, 1].map((gateway) => ({ atMs: 15_900, gateway, publishedMs: 15_500 }));
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
function answerInTime(cell: Cell, client: Client, startedMs: number): Answer {
  const answer = anAnswer(client, startedMs);
  const isBroken = startedMs >= TIMES.brokenMs && startedMs < TIMES.returnedMs;
  if (!isBroken || cell.fault === "slowed" || isOfClock(cell) || !isConcerned(cell, answer)) return answer;
  return { ...answer, status: 503, endedMs: startedMs + 500 };
}

/** Returns the answers of one rate limit window: `remaining` counts down, then requests are refused. */
export function aWindow(startedMs: number, resetS: number, admitted: number, refused: number): Answer[] {
  const counted = (remaining: number) => ({ counted: { bucket: "member", remaining, resetS } });
  return [
    ...Array.from({ length: admitted }, (_, index) =>
      anAnswer("limited", startedMs + index, counted(LIMITS.requests - 1 - index)),
    ),
    ...Array.from({ length: refused }, (_, index) =>
      anAnswer("limited", startedMs + admitted + index, { ...counted(0), status: 429 }),
    ),
  ];
}
