import { spreadOf } from "../measure/statistics.ts";
import { table, whole } from "../measure/table.ts";
import type { FloorSample, Measured } from "./measure.ts";

const HEAD = [
  "",
  "requests/s",
  "min..max",
  "CPU µs",
  "p50 ms",
  "p99 ms",
  "new connections/1 000",
  "MiB",
  "% of core",
];

/** Returns a table with a block for each load, and a row for each subject in the block. */
export function figureTable(cells: readonly Measured[]): string {
  const blocks = Map.groupBy(cells, ({ what }) => what.load);
  const rows = [...blocks].flatMap(([load, measured]) => [
    [load.title],
    ...measured.map((cell) => [`  ${cell.what.subject.title}`, ...figuresOf(cell)]),
  ]);
  return table(HEAD, rows);
}

function figuresOf({ samples, memory_mib }: Measured): string[] {
  const spread = (figure: keyof FloorSample) => spreadOf(samples.map((sample) => sample[figure]));
  const rate = spread("requests_per_second");
  return [
    whole(rate.median),
    `${whole(rate.min)}..${whole(rate.max)}`,
    (1e6 / spread("requests_per_cpu_second").median).toFixed(1),
    spread("p50_ms").median.toFixed(2),
    spread("p99_ms").median.toFixed(2),
    spread("connections_per_1000").median.toFixed(1),
    whole(memory_mib),
    whole(spread("cpu_share").median * 100),
  ];
}
