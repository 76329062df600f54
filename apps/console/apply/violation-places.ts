import type { FieldError } from "@ostiary/lib/domain/errors";
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml";

/** A range of the document's text, as offsets. `line` is counted from 1. */
export interface TextRange {
  line: number;
  start: number;
  end: number;
}

type PlacedViolation = FieldError & { place: TextRange | null };

/**
 * Finds the position of each problem in the document, and returns the problems sorted by position. The
 * registry reports the path of a value (`services.widgets.user.routes[0].path`). If the value is missing, the
 * position is that of its nearest parent. If the document does not parse, the position is the line in the
 * registry's message. Problems without a position come last.
 */
export function placeViolations(document: string, violations: readonly FieldError[]): PlacedViolation[] {
  const places = placesIn(document);
  return violations
    .map((violation) => ({
      ...violation,
      place: nearestPlace(places, violation.path) ?? placeOfLine(document, violation.message),
    }))
    .sort((one, other) => (one.place?.start ?? LAST) - (other.place?.start ?? LAST));
}

const LAST = Number.MAX_SAFE_INTEGER;

/** Returns the places of all values by path. Returns no place if the document does not parse. */
function placesIn(document: string): ReadonlyMap<string, TextRange> {
  const places = new Map<string, TextRange>();
  const lineCounter = new LineCounter();
  const add = (path: string, shown: unknown, value: unknown) => {
    if (isNode(shown) && shown.range) {
      const [start, end] = shown.range;
      places.set(path, { start, end, line: lineCounter.linePos(start).line });
    }
    for (const member of membersOf(path, value)) add(...member);
  };
  try {
    const { contents, errors } = parseDocument(document, { lineCounter, uniqueKeys: false });
    if (errors.length === 0) add("", contents, contents);
  } catch {
    // The document is nested too deeply for the parser.
  }
  return places;
}

function* membersOf(path: string, value: unknown): Generator<[path: string, shown: unknown, value: unknown]> {
  if (isSeq(value))
    for (const [index, item] of value.items.entries()) yield [`${path}[${index}]`, item, item];
  if (!isMap(value)) return;
  for (const { key, value: member } of value.items) {
    if (!isScalar(key)) continue;
    yield [path === "" ? `${key.value}` : `${path}.${key.value}`, isScalar(member) ? member : key, member];
  }
}

function nearestPlace(places: ReadonlyMap<string, TextRange>, path: string): TextRange | undefined {
  const place = places.get(path);
  if (place !== undefined || path === "") return place;
  const parent = path.replace(/[.[][^.[]*$/, "");
  return parent === path ? undefined : nearestPlace(places, parent);
}

/** Returns the position of the line that a parser's message names, such as "… line 3 …". */
function placeOfLine(document: string, message: string): TextRange | null {
  const line = Number(/\bline (\d+)\b/.exec(message)?.[1] ?? 0);
  const lines = document.split("\n");
  const text = lines[line - 1];
  if (text === undefined) return null;
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
  return { line, start, end: start + text.length };
}
