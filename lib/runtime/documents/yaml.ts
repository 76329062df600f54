/**
 * Parses YAML that operators write: one document of maps, lists and scalars (RG-38). Limits nesting and
 * aliases, because even a short text can be expensive to parse. Rejects custom tags, merge keys and duplicate
 * keys.
 */

import { type Event, parseEvents, YAMLException } from "js-yaml";
import type { ApiError } from "../../domain/errors/index.ts";
import { JSON_DEPTH_MAX } from "../../domain/json/index.ts";
import { invalidBody, type Place, placeAt, placeOf } from "./invalid-body.ts";
import { nestedYaml, ValueBuilder } from "./yaml-value.ts";

const SEVERAL_DOCUMENTS = "The body holds several YAML documents: keep one.";
const NO_DOCUMENT_START = "directives end mark is expected";

/**
 * Parses `text`. Throws a 422 with the position of the first part that is not accepted. With `onRepeatedKey`, a
 * duplicate key is not an error: `onRepeatedKey` gets its position, and the last value counts.
 */
export function parseYaml(text: string, onRepeatedKey?: (place: Place) => void): unknown {
  refuseUnprintable(text);
  const head = refuseDirectives(text);
  const builder = new ValueBuilder(text, (offset) => {
    if (onRepeatedKey === undefined) {
      throw invalidBody(`The key${placeOf(offset, text)} occurs twice in one map.`);
    }
    onRepeatedKey(placeAt(offset, text));
  });
  for (const event of eventsOf(text, head)) {
    builder.take(event);
    if (builder.documents > 1) throw invalidBody(SEVERAL_DOCUMENTS);
  }
  return builder.value;
}

/**
 * The characters that YAML allows only as escapes, and a carriage return without a line feed, which editors
 * do not show.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
const UNPRINTABLE = /[\0-\x08\v\f\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]|(?!^)\ufeff|\r(?!\n)/;

function refuseUnprintable(text: string): void {
  const found = UNPRINTABLE.exec(text);
  if (found === null) return;
  const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  throw invalidBody(
    `The YAML is not valid${placeOf(found.index, text)}: write U+${code} as an escape in double quotes.`,
  );
}

/**
 * A %YAML directive that is accepted: any version 1.x. A parser accepts later minor versions and rejects
 * other major versions (YAML 1.2, 6.8.1).
 */
const VERSION = /^%YAML[ \t]+1\.\d+(?:[ \t]+#.*|[ \t]*)$/;
/** A line that can come before a document: a comment, a directive or a blank line. */
const HEAD_LINE = /\ufeff?(?:[ \t]*#.*|%.*|[ \t]*)(?:\r?\n|$)/y;

/**
 * Rejects directives that the library would ignore: everything but a single %YAML. Returns the offset where
 * the document begins.
 */
function refuseDirectives(text: string): number {
  let offset = 0;
  let versions = 0;
  while (offset < text.length) {
    HEAD_LINE.lastIndex = offset;
    const line = HEAD_LINE.exec(text)?.[0];
    if (line === undefined) break;
    if (line.startsWith("%")) {
      const place = placeOf(offset, text);
      if (!/^%YAML\b/.test(line)) throw invalidBody(`The directive${place} is not accepted: only %YAML is.`);
      versions++;
      if (versions > 1) throw invalidBody(`The YAML is not valid${place}: %YAML occurs twice.`);
      if (!VERSION.test(line.trimEnd())) throw invalidBody(`The YAML is not valid${place}: write %YAML 1.2.`);
    }
    offset += line.length;
  }
  return offset;
}

function eventsOf(text: string, head: number): Event[] {
  try {
    // the library counts some levels twice; the builder enforces the exact limit
    return parseEvents(text, { maxDepth: 2 * JSON_DEPTH_MAX });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw fromLibrary(error, text, head);
  }
}

function fromLibrary({ reason, mark }: YAMLException, text: string, head: number): ApiError {
  const offset = mark?.position ?? 0;
  if (reason.startsWith("nesting exceeded")) return nestedYaml(offset, text);
  if (reason === NO_DOCUMENT_START && offset > head) return invalidBody(SEVERAL_DOCUMENTS);
  const [, why] = REASONS.find(([pattern]) => pattern.test(reason)) ?? [];
  return invalidBody(`The YAML is not valid${placeOf(offset, text)}${why === undefined ? "" : `: ${why}`}.`);
}

/** The messages for the library's reasons. For other reasons, the error contains only the position. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^tab characters/, "indent with spaces, not with tabs"],
  [
    /indentation of a/,
    "the text here is unexpected; a quote, a comma, a colon or a line break may be missing",
  ],
  [
    /^deficient indentation/,
    "a bracket, brace or quote above is not closed, or this line is indented less than the key that it belongs to",
  ],
  [/indentation width/, "the indentation after | or > must be one digit from 1 to 9"],
  [/quoted scalar$/, "a quote is not closed"],
  [/within a flow collection$/, "a bracket or brace is not closed"],
  [/^missed comma/, "a comma is missing between two entries"],
  [/found ','$/, "a value is missing in front of a comma"],
  [/^expected ':'/, "a colon is missing after a key"],
  [/^a whitespace character/, "a space is missing after a colon"],
  [/multiline key/, "a key must be on one line, followed by a colon"],
  [/escape|hexadecimal/, "an escape in double quotes is unknown"],
  [/of an (anchor|alias) node/, "an anchor or alias has no name"],
  [/^directives end mark/, "--- is missing after the directive"],
  [/^end of the stream/, "the text here follows the end of the document"],
];
