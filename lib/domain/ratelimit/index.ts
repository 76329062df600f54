export * from "./applied-limit.ts";
export * from "./buckets.ts";
export * from "./decide.ts";
export * from "./header-names.ts";
export * from "./period.ts";
