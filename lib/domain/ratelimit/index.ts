export * from "./applied-limit.ts";
export * from "./buckets.ts";
export * from "./decide.ts";
export * from "./period.ts";
