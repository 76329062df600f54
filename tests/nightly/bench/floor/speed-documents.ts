import { join } from "node:path";
import { ROOT } from "../../../support/root.ts";
import { figure } from "../measure/goal-table.ts";
import { withPart } from "../measure/page-part.ts";
import { markdownTable, whole } from "../measure/table.ts";
import { LATENCY_HEAD, latencyRows } from "./half-load.ts";
import { pictureOf } from "./picture.ts";
import type { Speed } from "./speed.ts";

const SOURCE = join(ROOT, "tests/nightly/bench/floor/speed.json");
const PICTURE = join(ROOT, ".github/pictures/speed.svg");
/** The documents that show the figures, with the markers of the parts that they show. */
const DOCUMENTS: readonly (readonly [path: string, markers: readonly string[]])[] = [
  ["README.md", ["speed", "speed-origin"]],
  [".github/PERFORMANCE.md", ["speed-latency", "speed-goals"]],
];

/** Returns the texts that show the figures, by the names of their markers. */
function partsOf(speed: Speed): Record<string, string> {
  const head = ["Requests a second (p99, ms; CPU, µs)", ...speed.loads.map(({ title }) => title)];
  const rows = speed.rows.map(({ title, figures }) => [
    title,
    ...figures.map(
      ({ requests_per_second, p99_ms, cpu_us }) =>
        `${whole(Number(requests_per_second.toPrecision(3)))} (${p99_ms.toFixed(1)}; ${cpu_us})`,
    ),
  ]);
  const missed = speed.goals.filter(({ met }) => !met);
  const goals = missed.map(({ title, bound, at_most, value, by_cpu }) => [
    title,
    `${at_most ? "at most " : ""}${figure(bound)}`,
    figure(value.median),
    by_cpu === null ? "" : figure(by_cpu.median),
  ]);
  const busy = speed.is_busy
    ? " Other work took most of the machine, so the rates are too low: compare the CPU."
    : "";
  return {
    speed: markdownTable(head, rows),
    "speed-latency": markdownTable(LATENCY_HEAD, latencyRows(speed.latencies)),
    "speed-goals": [
      `This run reached ${speed.goals.length - missed.length} of ${speed.goals.length} goals, and missed these:`,
      markdownTable(["Goal", "Wanted", "Measured", "By CPU"], goals),
    ].join("\n\n"),
    "speed-origin": `Measured: ${speed.taken}.${busy}`,
  };
}

/** Returns the content of each file that shows the figures, by its absolute path. */
export async function documentsOf(speed: Speed): Promise<Map<string, string>> {
  const parts = partsOf(speed);
  const written = new Map([
    [SOURCE, jsonOf(speed)],
    [PICTURE, pictureOf(speed)],
  ]);
  for (const [name, markers] of DOCUMENTS) {
    const path = join(ROOT, name);
    const text = await Bun.file(path).text();
    written.set(
      path,
      markers.reduce((page, marker) => withPart(page, marker, parts[marker] ?? ""), text),
    );
  }
  return written;
}

const LINE_MAX = 90;

/** Returns JSON with each innermost object that is short in one line. */
function jsonOf(value: Speed): string {
  const text = JSON.stringify(value, null, 2);
  const short = text.replaceAll(/\{[^{}[\]]*\}/g, (object) => {
    const line = object.replaceAll(/\s*\n\s*/g, " ");
    return line.length > LINE_MAX ? object : line;
  });
  return `${short}\n`;
}
