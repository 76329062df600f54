import { type Goal, type JudgedGoal, judge } from "../measure/goal-table.ts";
import { ratiosOf, spreadOf } from "../measure/statistics.ts";
import type { LoadName } from "./loads.ts";
import type { FloorSample, Measured } from "./measure.ts";
import type { SubjectName } from "./subjects.ts";

type Place = readonly [SubjectName, LoadName];

interface Ratio extends Goal {
  readonly of: Place;
  readonly over: Place;
}

const RATES: readonly Ratio[] = [
  {
    title: "public / pass-through on fetch, 64 clients",
    of: ["public", "64"],
    over: ["pass_through_fetch", "64"],
    bound: 0.85,
  },
  {
    title: "whole job / pass-through on fetch, 64 clients",
    of: ["whole", "64"],
    over: ["pass_through_fetch", "64"],
    bound: 0.65,
  },
  { title: "whole job / nginx + Lua, 64 clients", of: ["whole", "64"], over: ["rival", "64"], bound: 1.4 },
  { title: "whole job / nginx + Lua, 400 clients", of: ["whole", "400"], over: ["rival", "400"], bound: 1.7 },
  {
    title: "whole job / Envoy that forwards only, 64 clients",
    of: ["whole", "64"],
    over: ["envoy", "64"],
    bound: 1.35,
  },
  {
    title: "whole job / Envoy that forwards only, 400 clients",
    of: ["whole", "400"],
    over: ["envoy", "400"],
    bound: 1.7,
  },
  { title: "whole job, 400 clients / 64 clients", of: ["whole", "400"], over: ["whole", "64"], bound: 0.87 },
  { title: "public, 200 services / 1", of: ["public", "services"], over: ["public", "64"], bound: 0.9 },
  { title: "whole job, 200 services / 1", of: ["whole", "services"], over: ["whole", "64"], bound: 0.9 },
];

const TAILS: readonly Ratio[] = [
  ...(["64", "400"] as const).map((load) => ({
    title: `p99 of the whole job / nginx + Lua, ${load} clients`,
    of: ["whole", load] as const,
    over: ["rival", load] as const,
    bound: 1,
    at_most: true,
  })),
  {
    title: "p99 of the whole job / Envoy that forwards only, 64 clients",
    of: ["whole", "64"],
    over: ["envoy", "64"],
    bound: 1,
    at_most: true,
  },
];

const GATEWAY: ReadonlySet<SubjectName> = new Set(["public", "whole"]);
const CONNECTIONS_MAX = 5;
const MEMORY_MIB_MAX = 100;

/** Judges the measurements. Omits the goals that need a subject or load that was not measured. */
export function goalsOf(cells: readonly Measured[]): JudgedGoal[] {
  const ratio = ({ of, over }: Ratio, figure: keyof FloorSample) => {
    const [above, below] = [samplesAt(cells, of), samplesAt(cells, over)];
    if (above === undefined || below === undefined) return null;
    return ratiosOf(valuesOf(above, figure), valuesOf(below, figure));
  };
  const rates = RATES.flatMap(({ of, over, ...goal }) => {
    const value = ratio({ of, over, ...goal }, "requests_per_second");
    return value === null
      ? []
      : [judge(goal, value, ratio({ of, over, ...goal }, "requests_per_cpu_second"))];
  });
  const tails = TAILS.flatMap(({ of, over, ...goal }) => {
    const value = ratio({ of, over, ...goal }, "p99_ms");
    return value === null ? [] : [judge(goal, value)];
  });
  const crowded = cells.filter(({ what }) => GATEWAY.has(what.subject.name) && what.load.name !== "64");
  const connections = crowded.map(({ title, samples }) =>
    judge(
      { title: `new connections per 1 000, ${title}`, bound: CONNECTIONS_MAX, at_most: true },
      spreadOf(valuesOf(samples, "connections_per_1000")),
    ),
  );
  return [...rates, ...tails, ...connections, ...spreadOverServices(cells), ...memory(cells)];
}

/** Judges what 200 services cost the gateway, beside what they cost nginx with Lua. */
function spreadOverServices(cells: readonly Measured[]): JudgedGoal[] {
  const rateAt = (place: Place) => {
    const samples = samplesAt(cells, place);
    return samples === undefined ? null : valuesOf(samples, "requests_per_second");
  };
  const [whole, wholeOne] = [rateAt(["whole", "services"]), rateAt(["whole", "64"])];
  const [rival, rivalOne] = [rateAt(["rival", "services"]), rateAt(["rival", "64"])];
  if (whole === null || wholeOne === null || rival === null || rivalOne === null) return [];
  const shareOf = (rates: number[], one: number[]) => rates.map((rate, round) => rate / (one[round] ?? 0));
  const value = ratiosOf(shareOf(whole, wholeOne), shareOf(rival, rivalOne));
  return [judge({ title: "whole job, 200 services / 1, beside nginx + Lua", bound: 1 }, value)];
}

function memory(cells: readonly Measured[]): JudgedGoal[] {
  const cell = cellAt(cells, ["whole", "64"]);
  if (cell === undefined) return [];
  const goal = { title: "memory of a gateway, 64 clients, MiB", bound: MEMORY_MIB_MAX, at_most: true };
  return [judge(goal, spreadOf([cell.memory_mib]))];
}

function samplesAt(cells: readonly Measured[], place: Place) {
  return cellAt(cells, place)?.samples;
}

function cellAt(cells: readonly Measured[], [subject, load]: Place) {
  return cells.find(({ what }) => what.subject.name === subject && what.load.name === load);
}

function valuesOf(samples: readonly FloorSample[], figure: keyof FloorSample): number[] {
  return samples.map((sample) => sample[figure]);
}
