/** A client of Ostiary. See README.md. */
export type { components, paths } from "./apis/gateway.d.ts";
export { type ClientOptions, createClient } from "./client.ts";
export { apiKey, bearer, type Credential, type TokenSource } from "./credentials.ts";
export { type ErrorDetails, OstiaryError } from "./errors.ts";
export type { Answer, Client } from "./types.ts";
