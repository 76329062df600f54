import { type CellRun, type ClientResponse, secondsInto } from "../cell-run.ts";
import { LIMITS } from "../clients.ts";

interface CountedResponse extends ClientResponse {
  readonly counted: NonNullable<ClientResponse["counted"]>;
}

/**
 * The maximum difference between the ends of one window that two gateways report, because each rounds to
 * seconds.
 */
const SAME_END_S = 1;

/**
 * Groups the counted responses by window. A killed Redis loses its counts, so its restart begins new windows.
 */
export function windowsOf(run: CellRun): CountedResponse[][] {
  const forgets = run.cell.parts.includes("redis") && run.cell.fault === "killed";
  const epochOf = ({ startedMs }: ClientResponse) => (forgets && startedMs >= run.brokenMs ? 1 : 0);
  const groups = Map.groupBy(
    run.responses.filter(isCounted),
    (response) => `${response.counted.bucket} ${epochOf(response)}`,
  );
  return [...groups.values()].flatMap((responses) => {
    const windows: CountedResponse[][] = [];
    for (const response of responses.toSorted((a, b) => a.counted.resetS - b.counted.resetS)) {
      const [first] = windows.at(-1) ?? [];
      const isNext = first === undefined || response.counted.resetS - first.counted.resetS > SAME_END_S;
      if (isNext) windows.push([response]);
      else windows.at(-1)?.push(response);
    }
    return windows;
  });
}

function isCounted(response: ClientResponse): response is CountedResponse {
  return response.client === "limited" && response.counted !== undefined;
}

export function problemsOfWindow(run: CellRun, window: readonly CountedResponse[]): string[] {
  const passed = window.filter(({ status }) => status !== 429);
  const [first] = window;
  const when = first === undefined ? "" : secondsInto(run, first.startedMs);
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
function isUndisturbed(run: CellRun, window: readonly CountedResponse[]): boolean {
  const windowMs = LIMITS.windowS * 1000;
  const starts = window.map(({ startedMs }) => startedMs);
  const [from, to] = [Math.min(...starts), Math.max(...starts)];
  const quiet = to + windowMs < run.breakingMs || from - windowMs > run.returnedMs;
  return quiet && from - windowMs > run.beganMs && to + windowMs < run.endedMs;
}
