/** Paragraphs of OpenAPI descriptions that the services have in common, in Markdown. */
import type { Credential } from "./openapi.ts";

/** How every service answers what it refuses. */
export const ERRORS_INTRODUCTION = `## Errors

Every error has one form: \`{"error": {"type", "code", "message", "request_id", "details"}}\`. Programs decide by
\`code\`; \`message\` is for people; \`details\` says more of some codes, such as \`fields\` of a \`VALIDATION_ERROR\`: each
field that is wrong with what would be accepted, all at once. \`type\` is \`invalid_request_error\` where the request must
change, and \`api_error\` where it may succeed later. \`request_id\` names the request in the logs.

Unknown fields and unknown query parameters are refused, so that a misspelled one is never taken for none.`;

/** How the services' lists are read page by page. */
export const LISTS_INTRODUCTION = `## Lists

A list answers a page and \`has_more\`. The next page begins after the last id of this one: pass it as
\`starting_after\`. \`limit\` is the number of items of a page; more than the largest is taken as that.`;

/** What every internal port asks for. */
export const INTERNAL_CREDENTIAL = {
  name: "internal_token",
  scheme: { type: "apiKey", in: "header", name: "X-Platform-Internal-Token" },
  description: "The value of INTERNAL_AUTH_TOKEN, where one is configured.",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of code samples
  sample: ["X-Platform-Internal-Token", "${INTERNAL_AUTH_TOKEN}"],
} as const satisfies Credential;
