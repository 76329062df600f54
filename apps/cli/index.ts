/** The client of the registry's admin API, for other programs. */
export { Refused, UsageError } from "./exit-codes.ts";
export { findRegistry } from "./profiles.ts";
export { refusalText } from "./refusal-text.ts";
export { pathTo, RegistryClient } from "./registry-client.ts";
