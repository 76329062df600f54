/** The sums of usage, which reports and queries share. This code does no I/O. */
export * from "./sums.ts";
