import { CLOCK_FAULTS, FAULTS } from "./cells.ts";
import { CLIENTS, KINDS } from "./clients.ts";
import type { Findings, Sight } from "./findings.ts";
import { PROMISES } from "./promises/index.ts";

/** The maximum number of violations that one line names. */
const NAMED_MAX = 3;

/** Returns a Markdown table with aligned columns. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const layOut = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [layOut(head), layOut(widths.map((width) => "-".repeat(width))), ...rows.map(layOut)].join("\n");
}

/**
 * Returns a table with a row for each cell: the responses to each kind of client, the recovery time, and
 * losses.
 */
export function cellTable(findings: readonly Findings[]): string {
  const head = ["Fault", ...CLIENTS.map((client) => KINDS[client].title), "well again after", "lost"];
  const rows = findings.map((each) => [
    each.cell,
    ...CLIENTS.map((client) => sightText(each.sights[client])),
    each.well_again_ms === null ? `not (${each.well_again_last})` : `${seconds(each.well_again_ms)} s`,
    lostText(each.lost),
  ]);
  return markdownTable(head, rows);
}

/** Returns the recovery times in seconds: a row for each part or pair of parts, a column for each fault. */
export function recoveryTable(findings: readonly Findings[]): string {
  const faults = [...FAULTS, ...CLOCK_FAULTS];
  const cells = new Map(findings.map((each) => [each.cell, each]));
  const parts = new Set(findings.map(({ cell }) => cell.slice(0, cell.indexOf("/"))));
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

/** Formats responses as counts by status, then median and maximum time: `503 ×40, 200 ×2; 501/540 ms`. */
function sightText(sight: Sight | null): string {
  if (sight === null) return "–";
  const { statuses, p50_ms, max_ms } = sight;
  const parts = Object.entries(statuses)
    .toSorted((a, b) => b[1] - a[1])
    .map(([status, count]) => `${status} ×${count}`);
  return `${parts.join(", ")}; ${p50_ms}/${max_ms} ms`;
}

function lostText({ events, beyond_limit, wrong_admissions }: Findings["lost"]): string {
  const parts = [
    events > 0 && `${events} events`,
    beyond_limit > 0 && `${beyond_limit} beyond limits`,
    wrong_admissions > 0 && `${wrong_admissions} wrong admissions`,
  ];
  return parts.filter((part) => part !== false).join(", ") || "nothing";
}

/** Returns a table with a row for each promise: in how many cells it was checked, and where it was broken. */
export function promiseTable(findings: readonly Findings[]): string {
  const rows = PROMISES.map(({ name, title }) => {
    const judged = findings.flatMap((each) =>
      each.judgements.filter(({ promise }) => promise === name).map(({ broken }) => ({ each, broken })),
    );
    const broken = judged.filter((cell) => cell.broken.length > 0);
    const where = broken.map(({ each }) => each.cell).join(", ");
    const held = judged.length === 0 ? "not judged" : broken.length === 0 ? "held" : `broken: ${where}`;
    return [title, String(judged.length), held];
  });
  return markdownTable(["Promise", "cells", "result"], rows);
}

/** Returns a list of the promises that held wherever they were checked, and of those that did not. */
export function promiseList(findings: readonly Findings[]): string {
  const items = PROMISES.map(({ name, title }) => {
    const broken = findings.filter(({ judgements }) =>
      judgements.some(({ promise, broken }) => promise === name && broken.length > 0),
    );
    const where = broken.map(({ cell }) => cell).join(", ");
    return `- ${title}${where === "" ? "" : ` **Broken: ${where}.**`}`;
  });
  return items.join("\n");
}

/** Returns a line for each broken promise in each cell. */
export function brokenPromises(findings: readonly Findings[]): string[] {
  return findings.flatMap(({ cell, judgements }) =>
    judgements.flatMap(({ promise, broken }) => {
      if (broken.length === 0) return [];
      const named = broken.slice(0, NAMED_MAX).join("; ");
      const more = broken.length > NAMED_MAX ? `; and ${broken.length - NAMED_MAX} more` : "";
      return [`${cell} ${promise}: ${named}${more}`];
    }),
  );
}

/** Returns the progress line of a cell, and a line for each promise that the cell broke. */
export function progressLine(found: Findings): string {
  const broken = brokenPromises([found]);
  const { cell, requests, audited, well_again_ms, excused } = found;
  const well = well_again_ms === null ? "not well again" : `well again after ${seconds(well_again_ms)} s`;
  const facts = `${cell.padEnd(28)} ${requests} requests, ${audited} audited, ${well}, ${excused} excused`;
  return [facts, ...broken.map((line) => `  BROKEN ${line}`)].join("\n");
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
