/**
 * The internal endpoints that services offer each other (Identity specification, Audit internal API and Identity
 * internal endpoints), and the token by which they know each other.
 */

/** Carries `INTERNAL_AUTH_TOKEN`, where one is configured. */
export const INTERNAL_TOKEN_HEADER = "x-platform-internal-token";

/** Where every path begins that asks for the token; probes and scrapes carry none. */
export const INTERNAL_PREFIX = "/internal/";

/** `POST`: who a caller is, asked of identity. */
export const VALIDATE_PATH = "/internal/credentials/validate";

/** `GET`: what happened to organizations and members, asked of identity. */
export const LIFECYCLE_EVENTS_PATH = "/internal/lifecycle-events";

/** `PUT` of an intent and `PATCH` of an outcome at audit, under the id of their request. */
export const AUDIT_EVENTS_PATH = "/internal/events";

/** `POST` of intents of several requests at audit. */
export const AUDIT_INTENTS_PATH = "/internal/intents";

/** `POST` of outcomes of several requests at audit. */
export const AUDIT_OUTCOMES_PATH = "/internal/outcomes";

/** The headers of a call of an internal endpoint that has a JSON body. */
export function internalCallHeaders(token: string | undefined): Record<string, string> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== undefined) headers[INTERNAL_TOKEN_HEADER] = token;
  return headers;
}
