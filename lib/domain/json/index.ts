/** Parsers for untrusted JSON, which check the nesting depth first, and for untrusted UTF-8. */
export * from "./i-json.ts";
export * from "./outline.ts";
export * from "./parse.ts";
