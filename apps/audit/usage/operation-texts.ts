import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    listUsage: [
      "Read an organization's usage",
      "Requests, refusals, failures, bytes and time, grouped by `by`. The items are in the order of their ids. Gateways report every 10 seconds. A request is counted when it ends, in the counts of the hour in which it began. With `Accept: text/csv` or `application/x-ndjson` the response is an export of all items, and `limit` does not apply.",
    ],
    listUsageEvents: [
      "Read the usage feed",
      "Usage of all organizations as CloudEvents, oldest first. The usage of an hour appears after the hour ends. A reader that passes the last id it saw gets every event exactly once.",
    ],
    putUsageReport: [
      "Report usage",
      "Adds the counts of a report. If the number is not higher than the number of the instance's last report, nothing changes.",
    ],
    readQuotaCounts: [
      "Read the counts of quotas",
      "How many requests gateways have reported as charged to each quota. A quota without reports has 0.",
    ],
  },
  ["Usage"],
);
