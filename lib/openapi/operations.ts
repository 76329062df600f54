interface OperationDetail {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags?: string[];
}

/**
 * Returns the `detail` of each operation. The summaries and descriptions come from a separate file of texts.
 */
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

/**
 * Casts the details to their precise type. This is safe, because {@link describeOperations} adds one for each
 * id.
 */
function byId<Id extends string>(details: Record<string, OperationDetail>): Record<Id, OperationDetail> {
  // biome-ignore lint/plugin: the comment above the function says why this is safe
  return details as Record<Id, OperationDetail>;
}
