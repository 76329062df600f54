/** A client of Ostiary. See README.md. */
export type { components, paths } from "./apis/gateway.d.ts";
export { type ClientOptions, createClient } from "./client.ts";
export { type ErrorDetails, OstiaryError } from "./client-errors.ts";
export { apiKey, bearer, type Credential, type TokenSource } from "./credentials.ts";
export { readText } from "./responses.ts";
export { lifetimeOf, type MintedSession, SessionCredential } from "./session.ts";
export { sleep } from "./time.ts";
export { type Transport, type TransportOptions, transport } from "./transport.ts";
export type { Client, Success } from "./types.ts";
