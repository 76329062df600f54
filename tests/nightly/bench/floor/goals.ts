import { type JudgedGoal, judge } from "../measure/goal-table.ts";
import { ratiosOf, spreadOf } from "../measure/statistics.ts";
import type { LoadName } from "./loads.ts";
import type { FloorSample, Measured } from "./measure.ts";
import type { SubjectName } from "./subjects.ts";

type TableCell = readonly [SubjectName, LoadName];
type Ratio = readonly [title: string, of: TableCell, over: TableCell, bound: number];

const RATES: readonly Ratio[] = [
  ["public / pass-through on fetch, 64 clients", ["public", "64"], ["pass_through_fetch", "64"], 0.85],
  ["all features / pass-through on fetch, 64 clients", ["whole", "64"], ["pass_through_fetch", "64"], 0.65],
  ["all features / nginx + Lua, 64 clients", ["whole", "64"], ["rival", "64"], 1.4],
  ["all features / nginx + Lua, 400 clients", ["whole", "400"], ["rival", "400"], 1.7],
  ["all features / Envoy that forwards only, 64 clients", ["whole", "64"], ["envoy", "64"], 1.35],
  ["all features / Envoy that forwards only, 400 clients", ["whole", "400"], ["envoy", "400"], 1.7],
  ["all features, 400 clients / 64 clients", ["whole", "400"], ["whole", "64"], 0.87],
  ["public, 200 services / 1", ["public", "services"], ["public", "64"], 0.9],
  ["all features, 200 services / 1", ["whole", "services"], ["whole", "64"], 0.9],
];

const TAILS: readonly Ratio[] = [
  ["p99 with all features / nginx + Lua, 64 clients", ["whole", "64"], ["rival", "64"], 1],
  ["p99 with all features / nginx + Lua, 400 clients", ["whole", "400"], ["rival", "400"], 1],
  ["p99 with all features / Envoy that forwards only, 64 clients", ["whole", "64"], ["envoy", "64"], 1],
];

const GATEWAY: ReadonlySet<SubjectName> = new Set(["public", "whole"]);
const CONNECTIONS_MAX = 5;
const MEMORY_MIB_MAX = 100;

/** Judges the measurements. Omits the goals that need a subject or load that was not measured. */
export function goalsOf(cells: readonly Measured[]): JudgedGoal[] {
  const ratio = ([, of, over]: Ratio, figure: keyof FloorSample) => {
    const [above, below] = [valuesAt(cells, of, figure), valuesAt(cells, over, figure)];
    return above === null || below === null ? null : ratiosOf(above, below);
  };
  const rates = RATES.flatMap((each) => {
    const value = ratio(each, "requests_per_second");
    const [title, , , bound] = each;
    return value === null ? [] : [judge({ title, bound }, value, ratio(each, "requests_per_cpu_second"))];
  });
  const tails = TAILS.flatMap((each) => {
    const value = ratio(each, "p99_ms");
    const [title, , , bound] = each;
    return value === null ? [] : [judge({ title, bound, at_most: true }, value)];
  });
  const crowded = cells.filter(({ what }) => GATEWAY.has(what.subject.name) && what.load.name !== "64");
  const connections = crowded.map(({ title, samples }) =>
    judge(
      { title: `new connections per 1 000, ${title}`, bound: CONNECTIONS_MAX, at_most: true },
      spreadOf(samples.map((sample) => sample.connections_per_1000)),
    ),
  );
  return [...rates, ...tails, ...connections, ...spreadOverServices(cells), ...memory(cells)];
}

/** Judges what 200 services cost the gateway, beside what they cost nginx with Lua. */
function spreadOverServices(cells: readonly Measured[]): JudgedGoal[] {
  const sharesOf = (subject: SubjectName) => {
    const many = valuesAt(cells, [subject, "services"], "requests_per_second");
    const one = valuesAt(cells, [subject, "64"], "requests_per_second");
    return many === null || one === null ? null : many.map((rate, round) => rate / (one[round] ?? 0));
  };
  const [whole, rival] = [sharesOf("whole"), sharesOf("rival")];
  if (whole === null || rival === null) return [];
  const title = "all features, 200 services / 1, beside nginx + Lua";
  return [judge({ title, bound: 1 }, ratiosOf(whole, rival))];
}

function memory(cells: readonly Measured[]): JudgedGoal[] {
  const cell = cellAt(cells, ["whole", "64"]);
  if (cell === undefined) return [];
  const goal = { title: "memory of a gateway, 64 clients, MiB", bound: MEMORY_MIB_MAX, at_most: true };
  return [judge(goal, spreadOf([cell.memory_mib]))];
}

function valuesAt(
  cells: readonly Measured[],
  place: TableCell,
  figure: keyof FloorSample,
): readonly number[] | null {
  return cellAt(cells, place)?.samples.map((sample) => sample[figure]) ?? null;
}

function cellAt(cells: readonly Measured[], [subject, load]: TableCell): Measured | undefined {
  return cells.find(({ what }) => what.subject.name === subject && what.load.name === load);
}
