export { isClientParameter } from "./database-parameters.ts";
export * from "./load.ts";
export * from "./peer-tls.ts";
export * from "./program.ts";
export * from "./service-variables.ts";
export * from "./sign-in.ts";
export {
  databaseUsesTls,
  isCounterStoreUrl,
  isHttpBaseUrl,
  isHttpUrl,
  isLoopbackAddress,
  isOrigin,
  listItems,
} from "./url-checks.ts";
export * from "./variables.ts";
