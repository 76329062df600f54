import { outlineJson } from "./outline.ts";

/** The error for JSON that exceeds the depth bound. */
export class JsonTooDeep extends Error {
  constructor() {
    super("The JSON is nested too deeply.");
    this.name = "JsonTooDeep";
  }
}

/**
 * Parses untrusted JSON.
 *
 * @throws SyntaxError for malformed JSON, {@link JsonTooDeep} for JSON beyond the maximum depth.
 */
export function parseJson(text: string, depthMax?: number): unknown {
  if (outlineJson(text, depthMax).tooDeepAt !== null) throw new JsonTooDeep();
  return JSON.parse(text);
}

/** Returns the value of a JSON text, or undefined if `parse` throws. No JSON text has the value undefined. */
export function tryJson(text: string, parse: (text: string) => unknown = parseJson): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
