export { isOrigin, listItems } from "./addresses.ts";
export * from "./load.ts";
export * from "./service.ts";
export * from "./variables.ts";
