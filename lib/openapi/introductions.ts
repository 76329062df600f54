/** Markdown sentences that the introductions of OpenAPI descriptions share. A line has at most 120 characters. */

/** The sentences about error responses. */
export const ERRORS_INTRODUCTION = `Every error has the form \`{"error": {"type", "code", "message", "request_id", "details"}}\`.
Programs should check the \`code\`. Unknown fields and unknown query parameters are refused.`;

/** The sentence about pages of lists. */
export const LISTS_INTRODUCTION =
  "Lists come in pages: while `has_more` is true, pass the last id of the page as `starting_after` to get the next page.";
