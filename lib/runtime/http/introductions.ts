/** Markdown sentences that the OpenAPI descriptions of all services share. */
import type { Credential } from "./openapi.ts";

/** The sentences about error responses. */
export const ERRORS_INTRODUCTION = `Every error has the form \`{"error": {"type", "code", "message", "request_id", "details"}}\`.
Programs should check the \`code\`. Unknown fields and unknown query parameters are refused.`;

/** The sentence about pages of lists. */
export const LISTS_INTRODUCTION =
  "Lists come in pages: while `has_more` is true, pass the last id of the page as `starting_after` to get the next page.";

/** The sentence that refers to the rules for all operations. */
export const RULES_INTRODUCTION =
  "More about errors, lists, limits and retries: `.github/guides/calling-the-apis.md` in the repository of Ostiary.";

/** The credential of every internal port. */
export const INTERNAL_CREDENTIAL = {
  name: "internal_token",
  scheme: { type: "apiKey", in: "header", name: "X-Platform-Internal-Token" },
  description: "The value of INTERNAL_AUTH_TOKEN, if that variable is set.",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is a variable in code samples
  sample: ["X-Platform-Internal-Token", "${INTERNAL_AUTH_TOKEN}"],
} as const satisfies Credential;
