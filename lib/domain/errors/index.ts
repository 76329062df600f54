export * from "./api-error.ts";
export * from "./codes.ts";
export * from "./details.ts";
export * from "./envelope.ts";
export * from "./error-code.ts";
export * from "./field-errors.ts";
