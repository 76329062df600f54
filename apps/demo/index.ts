export * from "./identity-provider.ts";
export * from "./sample-service.ts";
