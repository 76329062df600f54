/** Reads untrusted JSON. Its size and depth are bounded before it is parsed. */
export * from "./i-json.ts";
export * from "./outline.ts";
export * from "./parse.ts";
export * from "./record.ts";
