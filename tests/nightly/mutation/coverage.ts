import { join } from "node:path";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { runFiles } from "./run-files.ts";

/** The part of the product that one test file runs in its own process. */
interface Covered {
  readonly durationMs: number;
  /** The lines that it runs, by the path of the source file. */
  readonly lines: Readonly<Record<string, readonly number[]>>;
}

/** The part of the product that each test file runs, by the path of the test file. */
export type Coverage = Readonly<Record<string, Covered>>;

/** Runs a test file of the copy alone, and returns what it covers. Returns null if it fails. */
export async function coverageOf(root: string, file: string): Promise<Covered | null> {
  const folder = temporaryFolder("coverage");
  const startedMs = performance.now();
  const options = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${folder}`];
  const failed = await runFiles(root, [file], options);
  const durationMs = Math.round(performance.now() - startedMs);
  return failed === null
    ? { durationMs, lines: linesIn(await Bun.file(join(folder, "lcov.info")).text()) }
    : null;
}

/** Reads the executed lines of the product from a report in LCOV's format. */
function linesIn(report: string): Covered["lines"] {
  const lines: Record<string, number[]> = {};
  let source: number[] = [];
  for (const record of report.split("\n")) {
    const [, path] = record.match(/^SF:((?:apps|lib)\/.*)/) ?? [];
    if (record.startsWith("SF:")) source = [];
    if (path !== undefined) lines[path] = source;
    const [, line, hits] = record.match(/^DA:(\d+),(\d+)/) ?? [];
    if (line !== undefined && hits !== "0") source.push(Number(line));
  }
  return lines;
}
