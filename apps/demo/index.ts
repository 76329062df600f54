export * from "./identity-provider.ts";
export * from "./sample-service.ts";
export { MIX } from "./traffic/mix.ts";
export { Traffic } from "./traffic/traffic.ts";
