/** The client of the registry's admin API, for other programs. */
export { Refused } from "./exit-codes.ts";
export { listGateways } from "./list-gateways.ts";
export { refusalText } from "./refusal-text.ts";
export { pathTo, RegistryClient } from "./registry-client.ts";
