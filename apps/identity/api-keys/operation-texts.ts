/** The texts about the keys of one kind of owner. */
export interface KeyTexts {
  /** The word for the owner in descriptions. */
  owner: string;
  /** The word for the owner in operation ids. */
  suffix: string;
  /** A sentence about what a key of this owner may do. */
  note: string;
}

const tags = ["API keys"];

/** Returns the summary and the description of each operation on the keys of one kind of owner. */
export function keyOperations({ owner, suffix, note }: KeyTexts) {
  return {
    create: {
      summary: `Create an API key of a ${owner}`,
      description: `Only this response contains the key itself. ${note}`,
      operationId: `create${suffix}ApiKey`,
      tags,
    },
    list: {
      summary: `List the API keys of a ${owner}`,
      description:
        "Oldest first, without their secrets. Revoked and expired keys are included unless a filter leaves them out. Filters combine with AND.",
      operationId: `list${suffix}ApiKeys`,
      tags,
    },
    rotate: {
      summary: `Rotate an API key of a ${owner}`,
      description:
        "A new key with the same name and lifetime replaces this one. The old key expires after the overlap, or at its own expiry time if that is earlier. 409 for a key that is revoked, expired, or already rotated.",
      operationId: `rotate${suffix}ApiKey`,
      tags,
    },
    revoke: {
      summary: `Revoke an API key of a ${owner}`,
      description: "A revocation is final. Revoking a key again changes nothing.",
      operationId: `revoke${suffix}ApiKey`,
      tags,
    },
  };
}
