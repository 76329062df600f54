export * from "./api-error.ts";
export * from "./close-words.ts";
export * from "./details.ts";
export * from "./envelope.ts";
export * from "./error-codes.ts";
export * from "./field-errors.ts";
export * from "./reason.ts";
