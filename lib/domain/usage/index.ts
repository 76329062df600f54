/** The sums of usage, which reports, queries and statements share. Pure. */
export * from "./sums.ts";
