import type { YAMLError } from "yaml";

/** The library's words for a fault, and what they mean to somebody who wrote the document; the first one holds. */
const REASONS: readonly [YAMLError["code"], RegExp, string][] = [
  ["MISSING_CHAR", /quote/, "a quote is not closed."],
  ["MISSING_CHAR", /map values/, "this key has no colon and space after it."],
  ["MISSING_CHAR", /Missing , /, "a comma is missing before this, or a colon and a space."],
  ["MISSING_CHAR", /space/, "a space is missing before this."],
  ["MISSING_CHAR", /directives-end/, "a line of --- stands between %YAML and the document."],
  ["MISSING_CHAR", /- indicator/, "an item of a list has no - sign."],
  ["BAD_INDENT", /end with a/, "a bracket or brace is not closed, or what it holds is not indented."],
  ["BAD_INDENT", /./, "the indentation does not fit the lines above."],
  ["TAB_AS_INDENT", /./, "lines are indented with spaces, not with tabs."],
  ["MULTILINE_IMPLICIT_KEY", /./, "a key stands on one line, with a colon and a space after it."],
  [
    "BLOCK_AS_IMPLICIT_KEY",
    /./,
    "this value holds a colon and a space: put it in quotes, or its key on a line of its own.",
  ],
  ["BLOCK_IN_FLOW", /./, "a comma is missing, or an indented list or map stands within [ ] or { }."],
  ["BAD_SCALAR_START", /./, "text that starts with this character must be in quotes."],
  ["BAD_DQ_ESCAPE", /./, "text in double quotes has no such escape: write \\\\ for a backslash."],
  ["BAD_ALIAS", /./, "* and & begin the names of aliases and anchors: put text that starts so in quotes."],
  ["KEY_OVER_1024_CHARS", /./, "a key has more than 1024 characters."],
];

const UNKNOWN = "this can not stand here: is a quote, a comma or a line break missing?";

/** Why a document is not YAML, as the end of a sentence. */
export function yamlReason(fault: Pick<YAMLError, "code" | "message">): string {
  const reason = REASONS.find(([code, words]) => code === fault.code && words.test(fault.message));
  return reason?.[2] ?? UNKNOWN;
}
