export * from "./auth-type.ts";
export * from "./credential-string.ts";
