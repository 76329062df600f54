/** JSON that others send: bounded before it is parsed. */
export * from "./outline.ts";
export * from "./parse.ts";
export * from "./record.ts";
