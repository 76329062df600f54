import type { BenchResult } from "../bench.ts";
import { goalTable } from "../measure/goal-table.ts";
import { type Machine, machineLine } from "../measure/machine.ts";
import { type Spread, spreadOf } from "../measure/statistics.ts";
import { table, whole } from "../measure/table.ts";
import type { Sample } from "../measure/wrk.ts";
import { goalsOf, type Measured } from "./goals.ts";

interface Plan {
  readonly rounds: number;
  readonly seconds: number;
}

/** Returns the results of a run, as text with tables and as data. */
export function report(
  machine: Machine,
  { rounds, seconds }: Plan,
  measured: readonly Measured[],
): BenchResult {
  const figures = measured.map(figureOf);
  const goals = goalsOf(measured);
  const text = [
    machineLine(machine),
    `${rounds} rounds of ${seconds} s each, 64 connections; one core for the subject, one for load and upstream`,
    "",
    figureTable(figures),
    "",
    goalTable(goals),
  ].join("\n");
  return { text, goals, data: { machine, rounds, seconds, figures, goals } };
}

interface Figure extends Record<keyof Sample, Spread> {
  readonly name: string;
  readonly title: string;
  readonly samples: readonly Sample[];
}

function figureOf({ subject, samples }: Measured): Figure {
  const spread = (figure: keyof Sample) => spreadOf(samples.map((sample) => sample[figure]));
  return {
    name: subject.name,
    title: subject.title,
    requests: spread("requests"),
    requests_per_second: spread("requests_per_second"),
    p50_ms: spread("p50_ms"),
    p99_ms: spread("p99_ms"),
    cpu_share: spread("cpu_share"),
    requests_per_cpu_second: spread("requests_per_cpu_second"),
    samples,
  };
}

function figureTable(figures: readonly Figure[]): string {
  const head = ["", "requests/s", "min..max", "p50 ms", "p99 ms", "% of core", "requests/CPU s"];
  const rows = figures.map((figure) => [
    figure.title,
    whole(figure.requests_per_second.median),
    `${whole(figure.requests_per_second.min)}..${whole(figure.requests_per_second.max)}`,
    figure.p50_ms.median.toFixed(2),
    figure.p99_ms.median.toFixed(2),
    whole(figure.cpu_share.median * 100),
    whole(figure.requests_per_cpu_second.median),
  ]);
  return table(head, rows);
}
