import type { Model } from "../checker/model.ts";

export interface LimitCall {
  readonly bucket: string;
}

export interface LimitOutcome {
  /** The value of `X-RateLimit-Remaining`; null if the request was refused. */
  readonly remaining: number | null;
}

/**
 * Returns the model of GW-69 and GW-70: all gateways together admit exactly `requests` requests in a window.
 * The state is the number of admitted requests.
 */
export function limitOf(requests: number): Model<number, LimitCall, LimitOutcome> {
  return {
    name: "limits",
    keyOf: ({ bucket }) => bucket,
    begin: () => 0,
    step(count, _, outcome) {
      const isAdmitted = count < requests;
      const after = isAdmitted ? count + 1 : count;
      if (outcome === null) return after;
      return outcome.remaining === (isAdmitted ? requests - after : null) ? after : null;
    },
    leavesState: (_, outcome) => outcome !== null && outcome.remaining === null,
    textOf: String,
  };
}
