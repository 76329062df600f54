/** The numbers of usage, as reports, reads and statements have them. Pure. */
export * from "./sums.ts";
