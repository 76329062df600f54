import type { FieldError } from "@ostiary/lib/domain/errors";
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";

/** The place of a problem in the pasted text. */
export interface Place {
  /** The line, counted from 1. */
  line: number;
  start: number;
  end: number;
}

type PlacedViolation = FieldError & { place: Place | null };

/**
 * Finds the place of each problem in the document: the place of the value, or of the nearest parent when the
 * value is missing. The registry names a problem by its path (`services.widgets.user.routes[0].path`). For a
 * text that does not parse, the message names the line. Returns the problems in the order of their places.
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

/** Returns the place of the deepest node that `path` reaches. */
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
 * Follows the first part of the path. Names of services and policies can contain dots, so the keys of the
 * document decide where a name ends.
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

/**
 * Returns the place of the line that a parser's message names, such as "… line 3 …".
 */
function placeOfLine(document: string, message: string): Place | null {
  const line = Number(/\bline (\d+)\b/.exec(message)?.[1] ?? 0);
  const lines = document.split("\n");
  const text = lines[line - 1];
  if (text === undefined) return null;
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
  return { line, start, end: start + text.length };
}
