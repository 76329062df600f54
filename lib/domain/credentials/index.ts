export * from "./auth-type.ts";
export * from "./credential.ts";
export * from "./hash.ts";
