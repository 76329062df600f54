import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    listAuditCheckpoints: [
      "List checkpoints",
      "Newest first. Each checkpoint is the state of all chains at one moment. A kept copy shows later that no event up to that moment was changed, removed or added.",
    ],
    getAuditSigningKeys: [
      "Read the keys of checkpoints",
      "Every public key that has signed checkpoints, as a JSON Web Key Set.",
    ],
  },
  ["Proof"],
);
