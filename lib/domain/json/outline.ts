/** JSON nested deeper is refused before anything else looks at it (contract 2). */
export const JSON_DEPTH_MAX = 64;

/** What one pass over a JSON text tells before it is parsed. */
export interface JsonOutline {
  /** Where the nesting passes the bound; null when it does not. The pass ends there. */
  readonly too_deep_at: number | null;
  /** The members of all its objects, as written: `JSON.parse` keeps the last of two with one key. */
  readonly members: number;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Reads the outline of a text that may or may not be JSON, in time that grows with its length only. */
export function outlineJson(text: string, depth_max = JSON_DEPTH_MAX): JsonOutline {
  let depth = 0;
  let members = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth++;
      if (depth > depth_max) return { too_deep_at: index, members };
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    else if (code === COLON) members++;
  }
  return { too_deep_at: null, members };
}

/** Where the string that starts at `start` ends: at its closing quote, or with the text. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    index += code === BACKSLASH ? 2 : 1;
  }
  return index;
}
