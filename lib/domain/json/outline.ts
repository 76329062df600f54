/** The maximum nesting depth. Deeper JSON is refused before any other check (ER-13). */
export const JSON_DEPTH_MAX = 64;

/** The size and depth of a JSON text, measured in one pass before parsing. */
interface JsonOutline {
  /** The offset where the nesting exceeds the maximum, or null. The pass stops at this offset. */
  readonly tooDeepAt: number | null;
  /** An upper bound on the number of values: objects, arrays, their members and items. */
  readonly values: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Returns the outline of a text, which may be malformed JSON. Takes linear time. */
export function outlineJson(text: string, depthMax = JSON_DEPTH_MAX): JsonOutline {
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth++;
      values++;
      if (depth > depthMax) return { tooDeepAt: index, values };
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    else if (code === COMMA) values++;
  }
  return { tooDeepAt: null, values };
}

/** Returns the end of the string that starts at `start`: its closing quote, or the end of the text. */
export function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    index += code === BACKSLASH ? 2 : 1;
  }
  return index;
}
