import { outlineJson } from "./outline.ts";

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

/**
 * Returns whether a value is a JSON or YAML object. Callers must read only field names that
 * `Object.prototype` does not have.
 */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const withoutMark = new TextDecoder("utf-8", { fatal: true });
const withMark = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes bytes as UTF-8. Returns undefined for bytes that are not UTF-8.
 *
 * @param mark whether to drop or keep a byte order mark at the start
 */
export function tryUtf8(bytes: Uint8Array, mark: "drop" | "keep" = "drop"): string | undefined {
  try {
    return (mark === "keep" ? withMark : withoutMark).decode(bytes);
  } catch {
    return undefined;
  }
}
