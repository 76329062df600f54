/** The internal endpoints between services (ID-84, AU-9), and the token that authenticates their callers. */

/** The header that carries `INTERNAL_AUTH_TOKEN`, if one is configured. */
export const INTERNAL_TOKEN_HEADER = "x-platform-internal-token";

/** The prefix of all paths that require the token. Probes and scrapes carry no token. */
export const INTERNAL_PREFIX = "/internal/";

/** `POST` to identity: validates the credential of a caller. */
export const VALIDATE_PATH = "/internal/credentials/validate";

/** `GET` from identity: the lifecycle feed of organizations and memberships. */
export const LIFECYCLE_EVENTS_PATH = "/internal/lifecycle-events";

/** `PUT` of an intent and `PATCH` of an outcome to audit, under the request id. */
export const AUDIT_EVENTS_PATH = "/internal/events";

/** `POST` to audit: the intents of several requests. */
export const AUDIT_INTENTS_PATH = "/internal/intents";

/** `POST` to audit: the outcomes of several requests. */
export const AUDIT_OUTCOMES_PATH = "/internal/outcomes";

/** `PUT` to audit: a usage report, under the id of the gateway instance and the number of the report. */
export const USAGE_PATH = "/internal/usage";

/** `POST` to audit: returns the reported counts of quotas. */
export const QUOTA_COUNTS_PATH = "/internal/quota-counts";

/** `GET` from audit: lists the usage of organizations, for billing systems. */
export const USAGE_EVENTS_PATH = "/internal/usage-events";

/** Returns the headers for a call of an internal endpoint with a JSON body. */
export function internalCallHeaders(token: string | undefined): Record<string, string> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== undefined) headers[INTERNAL_TOKEN_HEADER] = token;
  return headers;
}
