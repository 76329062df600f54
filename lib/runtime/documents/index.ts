/** Reads configuration documents from text, and finds the place of each field in it. */
export { invalidBody, type Place, statedPlace } from "./invalid-body.ts";
export { jsonSyntaxError } from "./json-syntax-error.ts";
export { locate } from "./places.ts";
export { decodeUtf8, parseJson, parseText } from "./text.ts";
export { parseYaml } from "./yaml.ts";
