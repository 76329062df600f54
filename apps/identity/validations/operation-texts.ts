import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    validateCredential: [
      "Validate a credential",
      "Called by the gateway. Returns the person or member that a JWT subject, an API key or a session stands for.",
    ],
  },
  ["Internal"],
);
