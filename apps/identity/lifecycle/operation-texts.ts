import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    listLifecycleEvents: [
      "Read the lifecycle feed",
      "Events of memberships and organizations, oldest first. A reader that passes the last id it saw gets every event exactly once.",
    ],
  },
  ["Internal"],
);
