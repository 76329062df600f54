import { markdownTable } from "../bench/measure/table.ts";
import type { CellSummary } from "./cell-summary.ts";
import { CLOCK_FAULTS, FAULTS } from "./cells.ts";
import { PROMISES } from "./promises/promises.ts";

const NAMED_MAX = 3;

/** Returns the recovery times in seconds: a row for each part or pair of parts, a column for each fault. */
export function recoveryTable(summaries: readonly CellSummary[]): string {
  const faults = [...FAULTS, ...CLOCK_FAULTS];
  const cells = new Map(summaries.map((each) => [each.cell, each]));
  const parts = new Set(summaries.map(({ cell }) => cell.slice(0, cell.indexOf("/"))));
  const rows = [...parts].map((part) => [
    part,
    ...faults.map((fault) => {
      const found = cells.get(`${part}/${fault}`);
      if (found === undefined) return "";
      return found.well_again_ms === null ? "not" : seconds(found.well_again_ms);
    }),
  ]);
  return markdownTable(["Seconds until all is well", ...faults], rows);
}

/** Returns a list of the promises, with the cells that broke them. */
export function promiseList(summaries: readonly CellSummary[]): string {
  const items = PROMISES.map(({ name, title }) => {
    const broken = summaries.filter(({ judgements }) =>
      judgements.some(({ promise, broken }) => promise === name && broken.length > 0),
    );
    const where = broken.map(({ cell }) => cell).join(", ");
    return `- ${title}${where === "" ? "" : ` **Broken: ${where}.**`}`;
  });
  return items.join("\n");
}

export function brokenPromises(summaries: readonly CellSummary[]): string[] {
  return summaries.flatMap(({ cell, judgements }) =>
    judgements.flatMap(({ promise, broken }) => {
      if (broken.length === 0) return [];
      const named = broken.slice(0, NAMED_MAX).join("; ");
      const more = broken.length > NAMED_MAX ? `; and ${broken.length - NAMED_MAX} more` : "";
      return [`${cell} ${promise}: ${named}${more}`];
    }),
  );
}

/** Returns the progress line of a cell, and a line for each promise that the cell broke. */
export function progressLine(found: CellSummary): string {
  const broken = brokenPromises([found]);
  const { cell, requests, audited, well_again_ms, excused } = found;
  const well = well_again_ms === null ? "not well again" : `well again after ${seconds(well_again_ms)} s`;
  const facts = `${cell.padEnd(28)} ${requests} requests, ${audited} audited, ${well}, ${excused} excused`;
  return [facts, ...broken.map((line) => `  BROKEN ${line}`)].join("\n");
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
