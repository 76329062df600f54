/** The offset at which a text stops being JSON, and the reason as the end of a sentence. */
interface JsonSyntaxError {
  offset: number;
  reason: string;
}

type Expected = "value" | "value or ]" | "key" | "key or }" | "colon" | "comma or end";

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\n\r]*/y;
const HEX = /[0-9a-fA-F]{4}/y;

/**
 * Finds the first syntax error in a text that `JSON.parse` rejects, because the runtime does not report its
 * offset. Returns null for valid JSON. Runs in linear time.
 */
export function jsonSyntaxError(text: string): JsonSyntaxError | null {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  let index = 0;
  for (;;) {
    index = endOf(SPACE, text, index) ?? index;
    const char = text[index];
    if (char === undefined) return endError(index, open, expected);
    const step = nextStep(text, index, char, expected, open);
    if (typeof step === "object") return step;
    index = step;
    expected = following(char, expected, open);
  }
}

/**
 * Reads one token and updates the stack of open brackets. Returns the offset after the token, or the syntax
 * error.
 */
function nextStep(
  text: string,
  index: number,
  char: string,
  expected: Expected,
  open: ("{" | "[")[],
): number | JsonSyntaxError {
  switch (expected) {
    case "colon":
      return char === ":" ? index + 1 : syntaxError(index, "a colon is missing after the key.");
    case "comma or end":
      return separatorEnd(index, char, open);
    case "key":
    case "key or }":
      if (char === '"') return stringEnd(text, index);
      if (char === "}" && expected === "key or }") return closed(index, open);
      return syntaxError(index, char === "}" ? "remove the comma before the }." : misplaced(char, "a key"));
    case "value":
    case "value or ]":
      if (char === "]" && expected === "value or ]") return closed(index, open);
      return valueEnd(text, index, char, open);
  }
}

function separatorEnd(index: number, char: string, open: ("{" | "[")[]): number | JsonSyntaxError {
  const inside = open.at(-1);
  if (inside === undefined) return syntaxError(index, "text follows the end of the JSON.");
  if (char === ",") return index + 1;
  if (char === (inside === "{" ? "}" : "]")) return closed(index, open);
  return syntaxError(index, `a comma or a ${inside === "{" ? "}" : "]"} is missing.`);
}

function valueEnd(text: string, index: number, char: string, open: ("{" | "[")[]): number | JsonSyntaxError {
  if (char === "{" || char === "[") {
    open.push(char);
    return index + 1;
  }
  if (char === '"') return stringEnd(text, index);
  const end = endOf(WORD, text, index) ?? endOf(NUMBER, text, index);
  if (end !== null) return end;
  if (char === "]") return syntaxError(index, "remove the comma before the ].");
  return syntaxError(
    index,
    char === "}" || char === "," ? "a value is missing." : misplaced(char, "a value"),
  );
}

function closed(index: number, open: ("{" | "[")[]): number {
  open.pop();
  return index + 1;
}

/**
 * Returns the kinds of token that may follow a token. `char` is the first character of the token, and
 * `expected` are the kinds that were allowed in its position.
 */
function following(char: string, expected: Expected, open: readonly ("{" | "[")[]): Expected {
  if (expected === "colon") return "value";
  if (expected === "comma or end" && char === ",") return open.at(-1) === "{" ? "key" : "value";
  if (char === '"' && (expected === "key" || expected === "key or }")) return "colon";
  if (char === "{") return "key or }";
  if (char === "[") return "value or ]";
  return "comma or end";
}

const SHORT_ESCAPES = '"\\/bfnrt';

function stringEnd(text: string, start: number): number | JsonSyntaxError {
  for (let index = start + 1; index < text.length; index += 1) {
    const char = text[index] ?? "";
    if (char === '"') return index + 1;
    if (char === "\n" || char === "\r")
      return syntaxError(start, "the string that begins here is not closed on its line.");
    if (char < " ")
      return syntaxError(index, "write control characters in a string as escapes, such as \\t.");
    if (char !== "\\") continue;
    const letter = text[index + 1] ?? "";
    const valid = letter === "u" ? endOf(HEX, text, index + 2) !== null : SHORT_ESCAPES.includes(letter);
    if (!valid || letter === "")
      return syntaxError(index, "the escape is unknown: write \\\\ for a backslash.");
    index += 1;
  }
  return syntaxError(start, "the string that begins here is not closed.");
}

function endError(index: number, open: readonly ("{" | "[")[], expected: Expected): JsonSyntaxError | null {
  const inside = open.at(-1);
  if (inside !== undefined)
    return syntaxError(index, `a ${inside === "{" ? "}" : "]"} is missing at the end.`);
  return expected === "comma or end" ? null : syntaxError(index, "a value is missing.");
}

function misplaced(char: string, what: string): string {
  if (char === "'") return "write strings and keys in double quotes.";
  if (char === "/" || char === "#") return "JSON has no comments.";
  return `expected ${what}: write strings and keys in double quotes.`;
}

/**
 * Returns the offset after a match of the sticky `pattern` at `index`, or null if the pattern does not match.
 */
function endOf(pattern: RegExp, text: string, index: number): number | null {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : null;
}

function syntaxError(offset: number, reason: string): JsonSyntaxError {
  return { offset, reason };
}
