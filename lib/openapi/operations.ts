interface OperationDetail {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags?: string[];
}

/** Returns the OpenAPI `detail` of each operation, by operation id. */
export function describeOperations<Id extends string>(
  texts: Readonly<Record<Id, readonly [summary: string, description: string]>>,
  tags?: string[],
): Readonly<Record<Id, OperationDetail>> {
  const details: Record<string, OperationDetail> = {};
  for (const [operationId, [summary, description]] of Object.entries<readonly [string, string]>(texts)) {
    details[operationId] = { operationId, summary, description, ...(tags && { tags }) };
  }
  return byId<Id>(details);
}

/** Casts the details to their precise type. This is safe, because `describeOperations` adds one for each id. */
function byId<Id extends string>(details: Record<string, OperationDetail>): Record<Id, OperationDetail> {
  // biome-ignore lint/plugin: the comment above the function says why this is safe
  return details as Record<Id, OperationDetail>;
}

// Markdown sentences that the introductions of OpenAPI descriptions share. A line has at most 120 characters.

export const ERRORS_INTRODUCTION = `Every error has the form \`{"error": {"type", "code", "message", "request_id", "details"}}\`.
Programs should check the \`code\`. Unknown fields and unknown query parameters are refused.`;

export const LISTS_INTRODUCTION =
  "Lists come in pages: while `has_more` is true, pass the last id of the page as `starting_after` to get the next page.";
