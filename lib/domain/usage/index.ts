/** The sums of usage, which reports, queries and statements share. This code does no I/O. */
export * from "./sums.ts";
