export * from "./curl.ts";
export * from "./documented-errors.ts";
export * from "./json-pointer.ts";
export * from "./operations.ts";
export * from "./schema-samples.ts";
export * from "./schemas.ts";
