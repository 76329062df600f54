import { outlineJson } from "./outline.ts";

/** JSON that is nested too deeply to be looked at. */
export class JsonTooDeep extends Error {
  constructor() {
    super("The JSON is nested too deeply.");
    this.name = "JsonTooDeep";
  }
}

/** Parses JSON from outside. Throws SyntaxError for what is not JSON, {@link JsonTooDeep} before parsing. */
export function parseJson(text: string, depth_max?: number): unknown {
  if (outlineJson(text, depth_max).too_deep_at !== null) throw new JsonTooDeep();
  return JSON.parse(text);
}
