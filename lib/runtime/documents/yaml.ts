/**
 * Parses YAML that operators write: one document of maps, lists and scalars (RG-38). Limits nesting and aliases,
 * because even a short text can be expensive. Rejects custom tags, merge keys and duplicate keys.
 */

import { type Event, parseEvents, YAMLException } from "js-yaml";
import { JSON_DEPTH_MAX } from "../../domain/json/index.ts";
import {
  type InvalidText,
  invalidAt,
  invalidText,
  invalidYaml,
  placeAt,
  type TextKind,
  type TextPosition,
} from "./invalid-text.ts";
import { nestedYaml, ValueBuilder } from "./yaml-value.ts";

const NO_DOCUMENT_START = "directives end mark is expected";

interface YamlOptions {
  /** `body` by default. */
  readonly kind?: TextKind;
  /** With this callback, a duplicate key is not an error: the last value counts. */
  readonly onRepeatedKey?: (place: TextPosition) => void;
}

/** Throws a 422 with the place of the first part that is not accepted. */
export function parseYaml(text: string, { kind = "body", onRepeatedKey }: YamlOptions = {}): unknown {
  const severalDocuments = () => invalidText(`The ${kind} holds several YAML documents: keep one.`);
  refuseUnprintable(text);
  const head = refuseDirectives(text);
  const builder = new ValueBuilder(text, (offset) => {
    if (onRepeatedKey === undefined) throw invalidAt(text, offset, "The key", " occurs twice in one map.");
    onRepeatedKey(placeAt(offset, text));
  });
  for (const event of eventsOf(text, head, severalDocuments)) {
    builder.take(event);
    if (builder.documents > 1) throw severalDocuments();
  }
  return builder.value;
}

/** The characters that YAML allows only as escapes, and a carriage return alone, which editors do not show. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
const UNPRINTABLE = /[\0-\x08\v\f\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]|(?!^)\ufeff|\r(?!\n)/;

function refuseUnprintable(text: string): void {
  const found = UNPRINTABLE.exec(text);
  if (found === null) return;
  const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  throw invalidYaml(text, found.index, `write U+${code} as an escape in double quotes`);
}

/** Any version 1.x: a parser accepts later minor versions and rejects other major ones (YAML 1.2, 6.8.1). */
const VERSION = /^%YAML[ \t]+1\.\d+(?:[ \t]+#.*|[ \t]*)$/;
/** A line before a document: a comment, a directive or a blank line. */
const HEAD_LINE = /\ufeff?(?:[ \t]*#.*|%.*|[ \t]*)(?:\r?\n|$)/y;

/** Rejects directives that the library would ignore. Returns the offset where the document begins. */
function refuseDirectives(text: string): number {
  let offset = 0;
  let versions = 0;
  while (offset < text.length) {
    HEAD_LINE.lastIndex = offset;
    const line = HEAD_LINE.exec(text)?.[0];
    if (line === undefined) break;
    if (line.startsWith("%")) {
      if (!/^%YAML\b/.test(line))
        throw invalidAt(text, offset, "The directive", " is not accepted: only %YAML is.");
      versions++;
      if (versions > 1) throw invalidYaml(text, offset, "%YAML occurs twice");
      if (!VERSION.test(line.trimEnd())) throw invalidYaml(text, offset, "write %YAML 1.2");
    }
    offset += line.length;
  }
  return offset;
}

function eventsOf(text: string, head: number, severalDocuments: () => InvalidText): Event[] {
  try {
    // the library counts some levels twice; the builder enforces the exact limit
    return parseEvents(text, { maxDepth: 2 * JSON_DEPTH_MAX });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const offset = error.mark?.position ?? 0;
    if (error.reason === NO_DOCUMENT_START && offset > head) throw severalDocuments();
    throw fromLibrary(error.reason, offset, text);
  }
}

function fromLibrary(reason: string, offset: number, text: string): InvalidText {
  if (reason.startsWith("nesting exceeded")) return nestedYaml(offset, text);
  const [, why] = REASONS.find(([pattern]) => pattern.test(reason)) ?? [];
  return invalidYaml(text, offset, why);
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
