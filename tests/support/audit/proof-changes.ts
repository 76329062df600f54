/** Every single change of an export: of each field of each line, and of the lines. */

/** A changed export, and what the change was. */
export interface Change {
  what: string;
  lines: string[];
  /** The index of the changed line, and the path of the changed field in it. Null for a change of the lines. */
  line: number;
  path: readonly (string | number)[] | null;
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Yields every single change of a field. */
export function* fieldChanges(lines: readonly string[]): Generator<Change, void, void> {
  for (const [line, text] of lines.entries()) {
    const value: Json = JSON.parse(text);
    for (const [what, path, changed] of changesOf(value, [])) {
      const name = `line ${line + 1}, ${path.join(".")}: ${what}`;
      yield { what: name, lines: lines.with(line, JSON.stringify(changed)), line, path };
    }
  }
}

function* changesOf(
  value: Json,
  path: readonly (string | number)[],
): Generator<[string, typeof path, Json], void, void> {
  for (const [what, other] of othersOf(value)) yield [what, path, other];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const at = [...path, index];
      yield ["item removed", at, value.toSpliced(index, 1)];
      yield ["item doubled", at, value.toSpliced(index, 0, item)];
      for (const [what, deep, changed] of changesOf(item, at)) yield [what, deep, value.with(index, changed)];
    }
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    const at = [...path, name];
    const { [name]: _, ...rest } = value;
    yield ["field removed", at, rest];
    for (const [what, deep, changed] of changesOf(item, at))
      yield [what, deep, { ...value, [name]: changed }];
  }
}

/** Returns a text of several lines, such as a note, with another character in the middle of each line. */
function linesOf(text: string): [string, Json][] {
  const lines = text.split("\n");
  if (lines.length === 1) return [];
  return lines.flatMap((line, index): [string, Json][] => {
    const at = Math.floor((line.length * 2) / 3);
    if (line === "") return [];
    const other = line.slice(0, at) + (line[at] === "A" ? "B" : "A") + line.slice(at + 1);
    return [[`another text in its line ${index + 1}`, lines.with(index, other).join("\n")]];
  });
}

const emptied: [string, Json] = ["an empty text", ""];

function othersOf(value: Json): [string, Json][] {
  if (typeof value === "string") {
    const other = value.slice(0, -1) + (value.endsWith("0") ? "1" : "0");
    return [["another text", other], ...(value === "" ? [] : [emptied]), ["null", null], ...linesOf(value)];
  }
  if (typeof value === "number")
    return [
      ["one more", value + 1],
      ["null", null],
    ];
  if (typeof value === "boolean") return [["the opposite", !value]];
  if (value === null)
    return [
      ["a text", "x"],
      ["a number", 200],
    ];
  if (Array.isArray(value)) return [["one more item", [...value, "0".repeat(64)]]];
  return [["an unknown field", { ...value, extra: 1 }]];
}

/** Yields every removal, doubling and exchange of lines. */
export function* lineChanges(lines: readonly string[]): Generator<Change, void, void> {
  for (const [line, text] of lines.entries()) {
    const at = { line, path: null };
    yield { ...at, what: `line ${line + 1} removed`, lines: lines.toSpliced(line, 1) };
    yield { ...at, what: `line ${line + 1} doubled`, lines: lines.toSpliced(line, 0, text) };
    yield { ...at, what: `line ${line + 1} moved to the end`, lines: [...lines.toSpliced(line, 1), text] };
    const next = lines[line + 1];
    if (next === undefined) continue;
    yield {
      ...at,
      what: `lines ${line + 1} and ${line + 2} exchanged`,
      lines: lines.toSpliced(line, 2, next, text),
    };
  }
}
