import { table } from "../bench/measure/table.ts";
import type { Mutation } from "./choose.ts";
import type { Stage } from "./stages.ts";
import type { Result } from "./trial.ts";

/** The share of mutations that each tier must find: the first alone, and both together. */
export const GOALS = { first: 0.85, both: 0.95 };

const isIn = (stages: readonly Stage[]) => (result: Result) =>
  result.stage !== null && stages.includes(result.stage);
const isFoundByFirst = isIn(["first tier"]);

/** Returns the share of the results that the first tier found, and the share that both found. */
export function sharesOf(results: readonly Result[]): { first: number; both: number } {
  const share = (found: (result: Result) => boolean) => results.filter(found).length / results.length;
  return { first: share(isFoundByFirst), both: share(({ stage }) => stage !== null) };
}

export function folderTable(results: readonly Result[]): string {
  const folders = Object.entries(Object.groupBy(results, ({ mutation }) => mutation.folder));
  const row = (name: string, found: readonly Result[]) => [
    name,
    String(found.length),
    String(found.filter(isFoundByFirst).length),
    String(found.filter(isIn(["second tier"])).length),
    String(found.filter(({ stage }) => stage === null).length),
  ];
  return table(
    ["folder", "mutations", "first tier", "second tier", "survived"],
    [...folders.map(([name, found = []]) => row(name, found)), row("all", results)],
  );
}

export function diffOf({ kind, path, source, start, end, text }: Mutation): string {
  const from = source.lastIndexOf("\n", start - 1) + 1;
  const next = source.indexOf("\n", end);
  const to = next === -1 ? source.length : next;
  const line = source.slice(0, start).split("\n").length;
  const marked = (sign: string, lines: string) => lines.replace(/^/gm, `${sign} `);
  return [
    `${path}:${line} (${kind})`,
    marked("-", source.slice(from, to)),
    marked("+", source.slice(from, start) + text + source.slice(end, to)),
  ].join("\n");
}

export function lineOf({ mutation, stage, file }: Result): string {
  return stage === null
    ? `SURVIVED\n${diffOf(mutation)}`
    : `${stage}: ${mutation.path} (${mutation.kind}) by ${file}`;
}
