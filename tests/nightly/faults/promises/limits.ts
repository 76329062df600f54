import { type Answer, askedTheBroken, type CellRun, isExcused, ownTime, withinFault } from "../cell-run.ts";
import { isAway } from "../cells.ts";
import { LIMITS } from "../clients.ts";
import { at, type Promised } from "./promise.ts";

interface CountedAnswer extends Answer {
  readonly counted: NonNullable<Answer["counted"]>;
}

/**
 * The maximum difference between the ends of one window that two gateways report, because each rounds to
 * seconds.
 */
const SAME_END_S = 1;

export const limitsAreExact: Promised = {
  name: "limits",
  title: "Limits are exact over all gateways while Redis is up.",
  timed: false,
  judge: (run) => windowsOf(run).flatMap((window) => problemsOfWindow(run, window)),
};

/**
 * Groups the counted answers by window. A killed Redis loses its counts, so its restart begins new windows.
 */
function windowsOf(run: CellRun): CountedAnswer[][] {
  const forgets = run.cell.parts.includes("redis") && run.cell.fault === "killed";
  const epochOf = ({ startedMs }: Answer) => (forgets && startedMs >= run.brokenMs ? 1 : 0);
  const groups = Map.groupBy(
    run.answers.filter(isCounted),
    (answer) => `${answer.counted.bucket} ${epochOf(answer)}`,
  );
  return [...groups.values()].flatMap((answers) => {
    const windows: CountedAnswer[][] = [];
    for (const answer of answers.toSorted((a, b) => a.counted.resetS - b.counted.resetS)) {
      const [first] = windows.at(-1) ?? [];
      const isNext = first === undefined || answer.counted.resetS - first.counted.resetS > SAME_END_S;
      if (isNext) windows.push([answer]);
      else windows.at(-1)?.push(answer);
    }
    return windows;
  });
}

function isCounted(answer: Answer): answer is CountedAnswer {
  return answer.client === "limited" && answer.counted !== undefined;
}

function admitted(window: readonly CountedAnswer[]): CountedAnswer[] {
  return window.filter(({ status }) => status !== 429);
}

function problemsOfWindow(run: CellRun, window: readonly CountedAnswer[]): string[] {
  const passed = admitted(window);
  const [first] = window;
  const when = first === undefined ? "" : at(run, first.startedMs);
  const left = new Set(passed.map(({ counted }) => counted.remaining));
  const problems: string[] = [];
  if (passed.length > LIMITS.requests) {
    problems.push(
      `${passed.length} requests passed in the window ${when}, and the limit is ${LIMITS.requests}`,
    );
  }
  if (left.size < passed.length) {
    problems.push(
      `${passed.length - left.size} requests in the window ${when} repeat the remaining count of another request`,
    );
  }
  const refused = window.length - passed.length;
  if (refused > 0 && isUndisturbed(run, window) && passed.length < LIMITS.requests) {
    problems.push(`only ${passed.length} of ${LIMITS.requests} requests passed in the window ${when}`);
  }
  return problems;
}

/**
 * Returns whether the window is completely inside the run and outside the fault, so that no response is
 * missing.
 */
function isUndisturbed(run: CellRun, window: readonly CountedAnswer[]): boolean {
  const windowMs = LIMITS.windowS * 1000;
  const starts = window.map(({ startedMs }) => startedMs);
  const [from, to] = [Math.min(...starts), Math.max(...starts)];
  const quiet = to + windowMs < run.breakingMs || from - windowMs > run.returnedMs;
  return quiet && from - windowMs > run.beganMs && to + windowMs < run.endedMs;
}

/**
 * Returns the answers to limited requests that ran while Redis was down. Returns null if the fault of the
 * cell does not take Redis down.
 */
function uncounted(run: CellRun): Answer[] | null {
  if (!run.cell.parts.includes("redis") || !isAway(run.cell)) return null;
  const asked = withinFault(run).filter(
    (answer) => answer.client === "limited" && !askedTheBroken(run.cell, answer),
  );
  return asked;
}

export const noLocalFallback: Promised = {
  name: "no-fallback",
  title: "Without Redis, no gateway counts locally: every limited request is refused.",
  timed: false,
  judge: (run) =>
    uncounted(run)
      ?.filter(({ status }) => status !== 503)
      .filter((answer) => answer.status !== null || !isExcused(answer))
      .map(({ status, startedMs }) => `a limited request got ${status} ${at(run, startedMs)}`) ?? null,
};

export const uncountedIsRefusedSoon: Promised = {
  name: "uncounted",
  title: `Without Redis, limited requests get 503 within ${LIMITS.uncountedMs} ms.`,
  timed: true,
  judge: (run) =>
    uncounted(run)
      ?.filter((answer) => ownTime(answer) > LIMITS.uncountedMs)
      .map(
        (answer) => `${answer.status} after ${Math.round(ownTime(answer))} ms ${at(run, answer.startedMs)}`,
      ) ?? null,
};
