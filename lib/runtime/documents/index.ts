/** Parses configuration documents, and finds the position of each field in their text. */
export { InvalidText, invalidText, type TextKind, type TextPosition } from "./invalid-text.ts";
export { jsonSyntaxError } from "./json-syntax-error.ts";
export { locate } from "./places.ts";
export { decodeUtf8, parseJsonText, parseText } from "./text.ts";
export { parseYaml } from "./yaml.ts";
