import { markdownTable } from "../bench/measure/table.ts";
import type { Verdict } from "./checker/check.ts";

const BLOCKED_MAX = 12;
const UNDECIDED_MAX = 0.01;

/** Returns a table with a row for each model: the numbers of histories, operations and verdicts. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  const rows = [...Map.groupBy(verdicts, ({ model }) => model)].map(([model, of]) => {
    const count = (result: Verdict["result"]) => String(of.filter((each) => each.result === result).length);
    const sum = (field: "operations" | "open") => String(of.reduce((total, each) => total + each[field], 0));
    return [
      model,
      String(of.length),
      sum("operations"),
      sum("open"),
      count("linearizable"),
      count("undecided"),
      count("not linearizable"),
    ];
  });
  const head = ["Model", "histories", "operations", "left open", "linearizable", "undecided", "wrong"];
  return markdownTable(head, rows);
}

/** Returns a text for each history that is not linearizable, with the operations that no order explains. */
export function wrongHistories(verdicts: readonly Verdict[]): string[] {
  return verdicts
    .filter(({ result }) => result === "not linearizable")
    .map(({ model, key, blocked }) =>
      [`${model} ${key}: no order explains these operations:`, ...blocked.slice(0, BLOCKED_MAX)].join("\n  "),
    );
}

/** Returns a text if too many histories are undecided for the run to count as passed. */
export function tooManyUndecided(verdicts: readonly Verdict[]): string[] {
  const undecided = verdicts.filter(({ result }) => result === "undecided");
  if (undecided.length <= Math.max(1, verdicts.length * UNDECIDED_MAX)) return [];
  const models = [...new Set(undecided.map(({ model }) => model))].join(", ");
  return [
    `${undecided.length} of ${verdicts.length} histories are undecided (${models}): record shorter histories, or improve the search.`,
  ];
}
