import { countField } from "../schemas/index.ts";

/** The sums of usage. `refused` is the total of the three sums by reason. */
export const usageSums = {
  requests: countField("Requests of the organization, including refused requests.", 1200),
  refused: countField("Requests that the gateway refused, for any reason.", 8),
  refused_limit: countField("Requests that a limit refused with 429.", 7),
  refused_labels: countField("Requests that were refused with 403 for a missing label.", 1),
  refused_other: countField("Requests that the gateway refused for another reason.", 0),
  failed: countField("Requests that reached a service and ended in a 5xx or without a complete response.", 3),
  bytes_in: countField("Bytes of request bodies.", 52_000),
  bytes_out: countField("Bytes of the response bodies of services.", 8_400_000),
  duration_ms: countField(
    "Sum of the times from the arrival of each request to its end, in milliseconds.",
    31_000,
  ),
};

const isSum = (name: string): name is keyof typeof usageSums => name in usageSums;
/** The names of the sums, in the order in which they are shown. */
export const SUM_NAMES = Object.keys(usageSums).filter(isSum);
