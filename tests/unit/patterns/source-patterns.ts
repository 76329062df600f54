/** A pattern in a source file: a regular expression literal, or a string whose name marks it as a pattern. */
export interface SourcePattern {
  source: string;
  flags: string;
}

const QUOTES = new Set(['"', "'"]);
/** Matches code after which a slash starts a regular expression and is not a division. */
const BEFORE_REGEXP = /(?:^|[=(,:[!&|?{};>+]|\breturn|\bcase)$/;
const FLAGS = /[a-z]*/y;
/** Matches the string of a field named `pattern`, or of a constant whose name marks it as a pattern. */
const PATTERN_TEXT = /\b(?:pattern:|[A-Z_]*PATTERN =|SLUG =)\s*("(?:[^"\\]|\\.)*")/g;

/** Returns every literal pattern in `code`, a formatted TypeScript file. */
export function sourcePatterns(code: string): SourcePattern[] {
  const texts = [...code.matchAll(PATTERN_TEXT)].map(([, text = '""']) => ({
    source: String(JSON.parse(text)),
    flags: "",
  }));
  const found: SourcePattern[] = [];
  scan(code, 0, "", found);
  return [...found, ...texts];
}

/** Collects the regular expressions up to the character `until`, and returns the index of `until`. */
function scan(code: string, start: number, until: string, found: SourcePattern[]): number {
  let index = start;
  let before = "";
  let depth = 0;
  while (index < code.length) {
    const char = code.charAt(index);
    if (char === until && depth === 0) return index;
    if (char === "{") depth++;
    if (char === "}") depth--;
    const end = endOfToken(code, index, before, found);
    before = contextAfter(before, code.slice(index, Math.max(end, index + 1)));
    index = Math.max(end, index + 1);
  }
  return index;
}

/** Returns the last characters before the next token, which decide what a slash means. Ignores comments. */
function contextAfter(before: string, token: string): string {
  if (token.startsWith("//") || token.startsWith("/*")) return before;
  if (token.length > 1) return "x";
  return token.trim() === "" ? before.replace(/\w$/, "$& ") : (before + token).slice(-10);
}

/** Returns the end of the string, template, comment or regular expression at `index`, or else `index`. */
function endOfToken(code: string, index: number, before: string, found: SourcePattern[]): number {
  const char = code.charAt(index);
  if (QUOTES.has(char)) return endOfQuoted(code, index, char) + 1;
  if (char === "`") return endOfTemplate(code, index, found);
  if (char !== "/") return index;
  if (code.startsWith("//", index)) return lineEnd(code, index);
  if (code.startsWith("/*", index)) return code.indexOf("*/", index) + 2;
  return BEFORE_REGEXP.test(before.trimEnd()) ? endOfRegExp(code, index, found) : index;
}

function endOfQuoted(code: string, start: number, quote: string): number {
  let index = start + 1;
  while (code.charAt(index) !== quote) index += code.charAt(index) === "\\" ? 2 : 1;
  return index;
}

function endOfTemplate(code: string, start: number, found: SourcePattern[]): number {
  let index = start + 1;
  while (code.charAt(index) !== "`") {
    if (code.startsWith("${", index)) index = scan(code, index + 2, "}", found) + 1;
    else index += code.charAt(index) === "\\" ? 2 : 1;
  }
  return index + 1;
}

function endOfRegExp(code: string, start: number, found: SourcePattern[]): number {
  let index = start + 1;
  let inClass = false;
  for (; code.charAt(index) !== "/" || inClass; index++) {
    const char = code.charAt(index);
    if (char === "\\") index++;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
  }
  FLAGS.lastIndex = index + 1;
  const flags = FLAGS.exec(code)?.[0] ?? "";
  found.push({ source: code.slice(start + 1, index), flags });
  return index + 1 + flags.length;
}

function lineEnd(code: string, index: number): number {
  const end = code.indexOf("\n", index);
  return end < 0 ? code.length : end;
}
