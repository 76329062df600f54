export * from "./buckets.ts";
export * from "./decide.ts";
