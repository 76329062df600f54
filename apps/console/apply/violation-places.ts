import type { FieldError } from "@ostiary/lib/domain/errors";
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";

/** The position of a problem in the document's text. */
export interface Place {
  /** The line, counted from 1. */
  line: number;
  /** The offset of the first character. */
  start: number;
  /** The offset after the last character. */
  end: number;
}

type PlacedViolation = FieldError & { place: Place | null };

/**
 * Finds the position of each problem in the document, and returns the problems sorted by position. The
 * registry reports the path of a value (`services.widgets.user.routes[0].path`). If the value is missing, the
 * position is that of its nearest parent. If the document does not parse, the position is the line in the
 * registry's message. Problems without a position come last.
 */
export function placeViolations(document: string, violations: readonly FieldError[]): PlacedViolation[] {
  const lines = new LineCounter();
  const root = contentsOf(document, lines);
  const placed = violations.map((violation) => {
    const range = root === null ? null : rangeAt(root, violation.path);
    const place =
      range === null
        ? placeOfLine(document, violation.message)
        : { ...range, line: lines.linePos(range.start).line };
    return { ...violation, place };
  });
  return placed.sort((one, other) => (one.place?.start ?? LAST) - (other.place?.start ?? LAST));
}

const LAST = Number.MAX_SAFE_INTEGER;

function contentsOf(document: string, lines: LineCounter): Node | null {
  try {
    const { contents, errors } = parseDocument(document, { lineCounter: lines, uniqueKeys: false });
    return errors.length > 0 ? null : contents;
  } catch {
    return null;
  }
}

/** Returns the range of the deepest node that `path` reaches, or null if the path reaches no node. */
function rangeAt(root: Node, path: string): Pick<Place, "start" | "end"> | null {
  let node: unknown = root;
  let range = path === "" ? rangeOf(root) : null;
  let rest = path;
  while (rest !== "") {
    const step = stepInto(node, rest);
    if (step === null) break;
    range = step.range;
    node = step.node;
    rest = step.rest;
  }
  return range;
}

interface Step {
  node: unknown;
  range: Pick<Place, "start" | "end"> | null;
  rest: string;
}

/**
 * Follows the first step of the path in `rest`, or returns null if the document has no such node. Names of
 * services and policies can contain dots, so the keys of the document decide where a name ends.
 */
function stepInto(node: unknown, rest: string): Step | null {
  const place = /^\[(\d+)\]\.?/.exec(rest);
  if (isSeq(node) && place !== null) {
    const item = node.items[Number(place[1])];
    return item === undefined
      ? null
      : { node: item, range: rangeOf(item), rest: rest.slice(place[0].length) };
  }
  if (!isMap(node)) return null;
  const found = node.items
    .flatMap((pair) => (isScalar(pair.key) ? [{ pair, key: pair.key, name: String(pair.key.value) }] : []))
    .filter(({ name }) => startsWithName(rest, name))
    .sort((a, b) => b.name.length - a.name.length)[0];
  if (found === undefined) return null;
  const after = rest.slice(found.name.length).replace(/^\./, "");
  const value = isScalar(found.pair.value) ? rangeOf(found.pair.value) : null;
  return { node: found.pair.value, range: value ?? rangeOf(found.key), rest: after };
}

function startsWithName(rest: string, name: string): boolean {
  return rest.startsWith(name) && ["", ".", "["].includes(rest.charAt(name.length));
}

function rangeOf(node: unknown): Pick<Place, "start" | "end"> | null {
  const range: unknown = typeof node === "object" && node !== null ? Reflect.get(node, "range") : null;
  if (!Array.isArray(range)) return null;
  const [start, end]: unknown[] = range;
  return typeof start === "number" && typeof end === "number" ? { start, end } : null;
}

/** Returns the position of the line that a parser's message names, such as "… line 3 …". */
function placeOfLine(document: string, message: string): Place | null {
  const line = Number(/\bline (\d+)\b/.exec(message)?.[1] ?? 0);
  const lines = document.split("\n");
  const text = lines[line - 1];
  if (text === undefined) return null;
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
  return { line, start, end: start + text.length };
}
