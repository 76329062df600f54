export {
  databaseUsesTls,
  isCounterStoreUrl,
  isHttpBaseUrl,
  isHttpUrl,
  isLoopbackAddress,
  isOrigin,
  listItems,
} from "./addresses.ts";
export { isClientParameter } from "./database-parameters.ts";
export { describedVariables, namesOf } from "./described-variables.ts";
export * from "./load.ts";
export { hintsOfVariables } from "./misspelled-variables.ts";
export * from "./peer-tls.ts";
export { type Program, programHelp } from "./program.ts";
export * from "./service-variables.ts";
export * from "./sign-in.ts";
export * from "./variables.ts";
