import { describedVariables } from "@ostiary/lib/runtime/config";
import { type TObject, type TSchema, TypeGuard } from "@sinclair/typebox";

/** Returns the variable table of a README, from the schema that reads the variables, without the rows `elsewhere`. */
export function variableTable(schema: TObject, elsewhere: readonly string[][] = []): string {
  const known = new Set(elsewhere.map(String));
  return aligned([HEAD, ...variableRows(schema).filter((row) => !known.has(String(row)))]);
}

/** Returns the table of the variables that have the same row in all schemas. */
export function sharedTable(schemas: readonly TObject[]): string {
  return aligned([HEAD, ...sharedRows(schemas)]);
}

/** Returns the rows that are the same in all schemas. */
export function sharedRows([first, ...others]: readonly TObject[]): string[][] {
  const rows = first === undefined ? [] : variableRows(first);
  const theirs = others.map((schema) => new Set(variableRows(schema).map(String)));
  return rows.filter((row) => theirs.every((each) => each.has(String(row))));
}

/** Returns a row for each variable, except those that name the files of TLS to a server: SECURITY.md lists them. */
export function variableRows(schema: TObject): string[][] {
  return describedVariables(schema)
    .filter(({ names }) => !isTlsFile(schema, names[0] ?? ""))
    .map(({ names, fallback, meaning, rule }) => [
      names.map(code).join(", "),
      rule.default === undefined ? fallback : code(fallback),
      takes(rule),
      escaped(meaning),
    ]);
}

/** Returns whether the variable is one of the three files of TLS to a server that the service calls. */
function isTlsFile(schema: TObject, name: string): boolean {
  const [, peer] = /^(\w+)_(?:CA|CERT|KEY)_FILE$/.exec(name) ?? [];
  return ["CA", "CERT", "KEY"].every((kind) => `${peer}_${kind}_FILE` in schema.properties);
}

const code = (text: string) => `\`${text}\``;

const HEAD = ["Variable", "Default", "Takes", "What it is for"];

/**
 * Pads the cells of each column to one width, as the formatter does, and adds a line of dashes below the
 * head.
 */
function aligned([head = [], ...rows]: string[][]): string {
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
  // The further sentences of a rule help somebody who broke it.
  const [first = ""] = String(rule.rule).split(". ");
  return escaped(first.replace(/^must be /, ""));
}

function range(minimum = 0, maximum = Number.MAX_SAFE_INTEGER): string {
  return maximum === Number.MAX_SAFE_INTEGER ? `${minimum} or more` : `${minimum} to ${maximum}`;
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("*", "\\*").replaceAll("<", "&lt;");
}
