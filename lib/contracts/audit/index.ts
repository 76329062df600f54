export * from "./event.ts";
export * from "./headers.ts";
