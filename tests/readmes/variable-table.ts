import { describedVariables } from "@ostiary/lib/runtime/config";
import { type TObject, type TSchema, TypeGuard } from "@sinclair/typebox";

/** Returns the variable table of a README, from the schema that reads the variables. */
export function variableTable(schema: TObject): string {
  const rows = describedVariables(schema).map(({ names, fallback, meaning, rule }) => [
    names.map(code).join(", or "),
    rule.default === undefined ? fallback : code(fallback),
    takes(rule),
    escaped(meaning),
  ]);
  return aligned([HEAD, ...rows]);
}

const code = (text: string) => `\`${text}\``;

const HEAD = ["Variable", "Default", "Takes", "What it is for"];

/**
 * Pads the cells of each column to one width, as the formatter does, and adds a line of dashes below the
 * head.
 */
export function aligned([head = [], ...rows]: string[][]): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
  );
  const dashes = widths.map((width) => "-".repeat(width));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |\n`;
  return [head, dashes, ...rows].map(line).join("");
}

function takes(rule: TSchema): string {
  if (TypeGuard.IsBoolean(rule)) return "`true` or `false`";
  if (TypeGuard.IsInteger(rule)) return range(rule.minimum, rule.maximum);
  if (TypeGuard.IsUnion(rule)) return rule.anyOf.map(({ const: value }) => `\`${value}\``).join(", ");
  return escaped(String(rule.rule).replace(/^must be /, ""));
}

function range(minimum = 0, maximum = Number.MAX_SAFE_INTEGER): string {
  return maximum === Number.MAX_SAFE_INTEGER ? `${minimum} or more` : `${minimum} to ${maximum}`;
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("*", "\\*").replaceAll("<", "&lt;");
}
