/** Where a text stops being JSON, and what is wrong there, as the end of a sentence. */
export interface JsonFault {
  offset: number;
  reason: string;
}

type Expected = "value" | "value or ]" | "key" | "key or }" | "colon" | "comma or end";

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\n\r]*/y;
const HEX = /[0-9a-fA-F]{4}/y;

/**
 * Finds the first fault of a text that `JSON.parse` refuses, since the runtime does not tell where it is. Null
 * for JSON. Takes time in proportion to the text, whatever it holds.
 */
export function jsonFault(text: string): JsonFault | null {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  let index = 0;
  for (;;) {
    index = endOf(SPACE, text, index) ?? index;
    const char = text[index];
    if (char === undefined) return endFault(index, open, expected);
    const step = nextStep(text, index, char, expected, open);
    if (typeof step === "object") return step;
    index = step;
    expected = following(char, expected, open);
  }
}

/** Reads one token, keeps account of what is open, and gives where it ends; a fault when it may not stand there. */
function nextStep(
  text: string,
  index: number,
  char: string,
  expected: Expected,
  open: ("{" | "[")[],
): number | JsonFault {
  switch (expected) {
    case "colon":
      return char === ":" ? index + 1 : fault(index, "a colon is missing after the key.");
    case "comma or end":
      return separatorEnd(index, char, open);
    case "key":
    case "key or }":
      if (char === '"') return stringEnd(text, index);
      if (char === "}" && expected === "key or }") return closed(index, open);
      return fault(index, char === "}" ? "a comma stands before the }." : misplaced(char, "a key"));
    case "value":
    case "value or ]":
      if (char === "]" && expected === "value or ]") return closed(index, open);
      return valueEnd(text, index, char, open);
  }
}

function separatorEnd(index: number, char: string, open: ("{" | "[")[]): number | JsonFault {
  const inside = open.at(-1);
  if (inside === undefined) return fault(index, "something follows the end of the JSON.");
  if (char === ",") return index + 1;
  if (char === (inside === "{" ? "}" : "]")) return closed(index, open);
  return fault(index, `a comma is missing, or the ${inside === "{" ? "}" : "]"}.`);
}

function valueEnd(text: string, index: number, char: string, open: ("{" | "[")[]): number | JsonFault {
  if (char === "{" || char === "[") {
    open.push(char);
    return index + 1;
  }
  if (char === '"') return stringEnd(text, index);
  const end = endOf(WORD, text, index) ?? endOf(NUMBER, text, index);
  if (end !== null) return end;
  if (char === "]") return fault(index, "a comma stands before the ].");
  return fault(index, char === "}" || char === "," ? "a value is missing." : misplaced(char, "a value"));
}

function closed(index: number, open: ("{" | "[")[]): number {
  open.pop();
  return index + 1;
}

/** What may come after the token that began with `char`, where `expected` was to come. */
function following(char: string, expected: Expected, open: readonly ("{" | "[")[]): Expected {
  if (expected === "colon") return "value";
  if (expected === "comma or end" && char === ",") return open.at(-1) === "{" ? "key" : "value";
  if (char === '"' && (expected === "key" || expected === "key or }")) return "colon";
  if (char === "{") return "key or }";
  if (char === "[") return "value or ]";
  return "comma or end";
}

const SHORT_ESCAPES = '"\\/bfnrt';

function stringEnd(text: string, start: number): number | JsonFault {
  for (let index = start + 1; index < text.length; index += 1) {
    const char = text[index] ?? "";
    if (char === '"') return index + 1;
    if (char === "\n" || char === "\r") return fault(start, "this text is not closed on its line.");
    if (char < " ")
      return fault(index, "a control character in a text is written as an escape, such as \\t.");
    if (char !== "\\") continue;
    const letter = text[index + 1] ?? "";
    const valid = letter === "u" ? endOf(HEX, text, index + 2) !== null : SHORT_ESCAPES.includes(letter);
    if (!valid || letter === "") return fault(index, "there is no such escape: write \\\\ for a backslash.");
    index += 1;
  }
  return fault(start, "this text is not closed.");
}

function endFault(index: number, open: readonly ("{" | "[")[], expected: Expected): JsonFault | null {
  const inside = open.at(-1);
  if (inside !== undefined) return fault(index, `the end comes before a ${inside === "{" ? "}" : "]"}.`);
  return expected === "comma or end" ? null : fault(index, "a value is missing.");
}

function misplaced(char: string, what: string): string {
  if (char === "'") return "texts and keys stand in double quotes.";
  if (char === "/" || char === "#") return "JSON has no comments.";
  return `${what} is missing: texts and keys stand in double quotes.`;
}

/** Where a match of `pattern`, a sticky one, ends; null when there is none at `index`. */
function endOf(pattern: RegExp, text: string, index: number): number | null {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : null;
}

function fault(offset: number, reason: string): JsonFault {
  return { offset, reason };
}
