/** The paths of the internal endpoints (ID-84, AU-9), and the header that authenticates the calling service. */

export const INTERNAL_TOKEN_HEADER = "x-platform-internal-token";

/** The prefix of all paths that require the internal token. */
export const INTERNAL_PREFIX = "/internal/";

export const VALIDATE_PATH = "/internal/credentials/validate";

export const ADMISSION_CHANGES_PATH = "/internal/admission-changes";

export const LIFECYCLE_EVENTS_PATH = "/internal/lifecycle-events";

/** The path under which the gateway writes an event: `PUT` for the intent, `PATCH` for the outcome. */
export const AUDIT_EVENTS_PATH = "/internal/events";

export const AUDIT_INTENTS_PATH = "/internal/intents";

export const AUDIT_OUTCOMES_PATH = "/internal/outcomes";

/** Takes usage reports (`PUT`). The gateway's instance id and the number of the report follow. */
export const USAGE_PATH = "/internal/usage";

export const QUOTA_COUNTS_PATH = "/internal/quota-counts";

export const USAGE_EVENTS_PATH = "/internal/usage-events";

export function internalCallHeaders(token: string | undefined): Record<string, string> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== undefined) headers[INTERNAL_TOKEN_HEADER] = token;
  return headers;
}
