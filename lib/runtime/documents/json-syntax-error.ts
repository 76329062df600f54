import { type ParseErrorCode, printParseErrorCode, visit } from "jsonc-parser";
import { tryJson } from "../../domain/json/index.ts";

/** The offset at which a text stops being JSON, and the reason as the end of a sentence. */
interface JsonSyntaxError {
  readonly offset: number;
  readonly reason: string;
}

const QUOTES = "write strings and keys in double quotes.";
const ESCAPE = "the string that begins here has an unknown escape: write \\\\ for a backslash.";

const REASONS: Readonly<Record<string, string>> = {
  ColonExpected: "a colon is missing after the key.",
  CommaExpected: "a comma or a closing bracket is missing.",
  CloseBraceExpected: "a } is missing at the end.",
  CloseBracketExpected: "a ] is missing at the end.",
  EndOfFileExpected: "text follows the end of the JSON.",
  InvalidCommentToken: "JSON has no comments.",
  UnexpectedEndOfComment: "JSON has no comments.",
  UnexpectedEndOfString: "the string that begins here is not closed on its line.",
  InvalidCharacter:
    "the string that begins here has a control character: write it as an escape, such as \\t.",
  InvalidEscapeCharacter: ESCAPE,
  InvalidUnicode: ESCAPE,
  PropertyNameExpected: `expected a key: ${QUOTES}`,
  InvalidSymbol: `expected a key or a value: ${QUOTES}`,
  ValueExpected: "a value is missing.",
};

/** Finds the error in a text that `JSON.parse` rejects, because the runtime does not report its offset. */
export function jsonSyntaxError(text: string): JsonSyntaxError | null {
  let first: JsonSyntaxError | null = null;
  const onError = (code: ParseErrorCode, offset: number) => {
    first ??= { offset, reason: reasonOf(code, offset, text) };
  };
  visit(text, { onError }, { disallowComments: true });
  return first;
}

function reasonOf(code: ParseErrorCode, offset: number, text: string): string {
  const char = text[offset] ?? "";
  const before = text.slice(0, offset).trimEnd();
  if (tryJson(before, JSON.parse) !== undefined) return "text follows the end of the JSON.";
  if ("]}".includes(char) && before.endsWith(",")) return `remove the comma before the ${char}.`;
  if (char === "#") return "JSON has no comments.";
  return REASONS[printParseErrorCode(code)] ?? `expected a value: ${QUOTES}`;
}
