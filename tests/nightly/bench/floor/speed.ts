import { type Static, Type } from "@sinclair/typebox";
import { JudgedGoal } from "../measure/goal-table.ts";
import { type Machine, machineLine } from "../measure/machine.ts";
import { spreadOf } from "../measure/statistics.ts";
import { Latency } from "./half-load.ts";
import type { FloorSample, Measured, Plan } from "./measure.ts";

const Figure = Type.Object({
  load: Type.String({ description: "The name of the load, such as `64`." }),
  requests_per_second: Type.Number(),
  cpu_us: Type.Number({ description: "CPU time of the subject for a request, µs." }),
  p99_ms: Type.Number(),
});

/**
 * The speed of all subjects in one run of `bench floor`. `floor/speed.json` holds the set that the documents show, and
 * is their only source.
 */
export const Speed = Type.Object({
  taken: Type.String({ description: "When, at which commit, how long and where." }),
  is_busy: Type.Boolean({ description: "Whether other work ran on the machine." }),
  loads: Type.Array(Type.Object({ name: Type.String(), title: Type.String() })),
  rows: Type.Array(Type.Object({ name: Type.String(), title: Type.String(), figures: Type.Array(Figure) })),
  latencies: Type.Array(Latency),
  goals: Type.Array(JudgedGoal),
});
export type Speed = Readonly<Static<typeof Speed>>;

/** A load average above this means that other work ran when the run began. */
const LOAD_QUIET_MAX = 1;

export interface Run {
  readonly day: string;
  readonly commit: string;
  readonly machine: Machine;
  readonly plan: Plan;
  readonly cells: readonly Measured[];
  readonly latencies: readonly Latency[];
  readonly goals: readonly JudgedGoal[];
}

export function speedOf({ day, commit, machine, plan, cells, latencies, goals }: Run): Speed {
  const loads = new Map(cells.map(({ what: { load } }) => [load.name, load.title]));
  const subjects = Map.groupBy(cells, ({ what: { subject } }) => subject.name);
  return {
    taken: `${day}, commit ${commit}, ${plan.rounds} rounds of ${plan.seconds} s, ${machineLine(machine)}`,
    is_busy: machine.load_average > LOAD_QUIET_MAX,
    loads: Array.from(loads, ([name, title]) => ({ name, title })),
    rows: Array.from(subjects, ([name, measured]) => ({
      name,
      title: measured[0]?.what.subject.title ?? name,
      figures: measured.map(({ what: { load }, samples }) => ({ load: load.name, ...figureOf(samples) })),
    })),
    latencies: [...latencies],
    // A subject that served nothing in a round has no ratio.
    goals: goals.filter(({ value, by_cpu }) => [value.max, by_cpu?.max ?? 0].every(Number.isFinite)),
  };
}

function figureOf(samples: readonly FloorSample[]) {
  const median = (of: keyof FloorSample) => spreadOf(samples.map((sample) => sample[of])).median;
  return {
    requests_per_second: Math.round(median("requests_per_second")),
    cpu_us: Number((1e6 / median("requests_per_cpu_second")).toFixed(1)),
    p99_ms: Number(median("p99_ms").toFixed(2)),
  };
}
