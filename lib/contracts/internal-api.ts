/** The paths of the internal endpoints (ID-84, AU-9), and the header that authenticates the calling service. */

/** The header that carries `INTERNAL_AUTH_TOKEN`, if one is configured. */
export const INTERNAL_TOKEN_HEADER = "x-platform-internal-token";

/**
 * The prefix of all paths that require the internal token. Probes and scrapes use other paths and carry no
 * token.
 */
export const INTERNAL_PREFIX = "/internal/";

/** The path in identity that validates the credential of a caller (`POST`). */
export const VALIDATE_PATH = "/internal/credentials/validate";

/** The path in identity of the lifecycle feed of organizations and memberships (`GET`). */
export const LIFECYCLE_EVENTS_PATH = "/internal/lifecycle-events";

/**
 * The path under which the gateway writes an event to audit, by request id: `PUT` for the intent, `PATCH` for
 * the outcome.
 */
export const AUDIT_EVENTS_PATH = "/internal/events";

/** The path in audit that takes the intents of several requests (`POST`). */
export const AUDIT_INTENTS_PATH = "/internal/intents";

/** The path in audit that takes the outcomes of several requests (`POST`). */
export const AUDIT_OUTCOMES_PATH = "/internal/outcomes";

/**
 * The path in audit that takes usage reports (`PUT`). The instance id of the gateway and the number of the
 * report follow the path.
 */
export const USAGE_PATH = "/internal/usage";

/** The path in audit that returns the reported counts of quotas (`POST`). */
export const QUOTA_COUNTS_PATH = "/internal/quota-counts";

/** The path in audit that lists the usage of organizations, for billing systems (`GET`). */
export const USAGE_EVENTS_PATH = "/internal/usage-events";

/** Returns the headers for a call to an internal endpoint with a JSON body. */
export function internalCallHeaders(token: string | undefined): Record<string, string> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== undefined) headers[INTERNAL_TOKEN_HEADER] = token;
  return headers;
}
