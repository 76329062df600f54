/** Parsers for untrusted JSON. They check the nesting depth before they parse. */
export * from "./i-json.ts";
export * from "./outline.ts";
export * from "./parse.ts";
export * from "./record.ts";
