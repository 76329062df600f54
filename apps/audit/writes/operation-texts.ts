import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    putEventIntent: [
      "Write the intent of a request",
      "Creates a pending event, unless the event exists. The audit service ignores unknown fields.",
    ],
    patchEventOutcome: [
      "Write the outcome of a request",
      "Makes a pending event final. A final event stays as it is.",
    ],
    postEventIntents: [
      "Write the intents of several requests",
      "Handles each intent as PUT does. If one intent is invalid, the others are still written.",
    ],
    postEventOutcomes: [
      "Write the outcomes of several requests",
      "Handles each outcome as PATCH does. If one outcome is invalid, the others are still applied.",
    ],
  },
  ["Writes"],
);
