/** Findings of a verification and their English sentences, without the code that verifies. */
export { ENGLISH } from "./english.ts";
export * from "./finding-codes.ts";
