import { type Answer, type CellRun, isExcused, isGood } from "./cell-run.ts";
import { nameOf } from "./cells.ts";
import { CLIENTS, type Client } from "./clients.ts";
import { neverAWrongAdmission } from "./promises/admission.ts";
import { withoutEvent } from "./promises/audit.ts";
import { healing } from "./promises/healing.ts";
import { type Judgement, judge } from "./promises/index.ts";
import { countBeyondLimit } from "./promises/limits.ts";

/** A summary of the responses that one kind of client got during a fault. */
export interface Sight {
  /** The number of responses by status; `none` counts requests without a response. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly p50_ms: number;
  readonly max_ms: number;
}

/** The findings of one cell: a row of the table of results, and an item of the JSON output. */
export interface Findings {
  readonly cell: string;
  readonly sights: Readonly<Record<Client, Sight | null>>;
  /** The time from the end of the fault until all clients were served normally; null if they never were. */
  readonly well_again_ms: number | null;
  /** The kind of client, or `routes`, that recovered last. */
  readonly well_again_last: string;
  readonly lost: {
    readonly events: number;
    readonly beyond_limit: number;
    readonly wrong_admissions: number;
  };
  readonly requests: number;
  readonly audited: number;
  /** The number of failures that do not count, because the processes waited for CPU time. */
  readonly excused: number;
  readonly judgements: readonly Judgement[];
}

export function findingsOf(run: CellRun, options: { timed: boolean }): Findings {
  const [last, well_again_ms] = [...healing(run)].reduce((a, b) => (b[1] > a[1] ? b : a));
  const rounded = (ms: number) => (Number.isFinite(ms) ? Math.round(ms) : null);
  const sights = CLIENTS.map((client) => [client, sightOf(run, client)] as const);
  return {
    cell: nameOf(run.cell),
    sights: recordOf(sights),
    well_again_ms: rounded(well_again_ms),
    well_again_last: last,
    lost: {
      events: withoutEvent(run).length,
      beyond_limit: countBeyondLimit(run),
      wrong_admissions: neverAWrongAdmission.judge(run)?.length ?? 0,
    },
    requests: run.answers.length,
    audited: run.reached.filter(({ client }) => client === "audited").length,
    excused: run.answers.filter((answer) => !isGood(answer) && isExcused(answer)).length,
    judgements: judge(run, options),
  };
}

function recordOf(sights: readonly (readonly [Client, Sight | null])[]): Record<Client, Sight | null> {
  const none = { public: null, limited: null, jwt: null, cached: null, unseen: null, audited: null };
  const more = { refused: null, stream: null, socket: null, publish: null };
  return { ...none, ...more, ...Object.fromEntries(sights) };
}

/** Summarizes the responses to requests that were sent during the fault, even if a response came later. */
function sightOf({ answers, brokenMs, returningMs }: CellRun, client: Client): Sight | null {
  const seen = answers.filter(
    (answer) => answer.client === client && answer.startedMs >= brokenMs && answer.startedMs < returningMs,
  );
  if (seen.length === 0) return null;
  const times = seen.map(({ startedMs, endedMs }) => endedMs - startedMs).sort((a, b) => a - b);
  return {
    statuses: countBy(seen),
    p50_ms: Math.round(times[Math.floor(times.length / 2)] ?? 0),
    max_ms: Math.round(times.at(-1) ?? 0),
  };
}

function countBy(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status ?? "none"] = (counts[status ?? "none"] ?? 0) + 1;
  return counts;
}
