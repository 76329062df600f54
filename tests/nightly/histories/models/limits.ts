import type { Model } from "../checker/model.ts";

export interface LimitCall {
  readonly bucket: string;
}

export interface LimitAnswer {
  /** The value of `X-RateLimit-Remaining`; null if the request was refused. */
  readonly remaining: number | null;
}

/**
 * Returns the model of GW-69 and GW-70: all gateways together admit exactly `requests` requests in a window.
 * The state is the number of admitted requests.
 */
export function limitOf(requests: number): Model<number, LimitCall, LimitAnswer> {
  return {
    name: "limits",
    keyOf: ({ bucket }) => bucket,
    begin: () => 0,
    step(count, _, answer) {
      const isAdmitted = count < requests;
      const after = isAdmitted ? count + 1 : count;
      if (answer === null) return after;
      return answer.remaining === (isAdmitted ? requests - after : null) ? after : null;
    },
    leavesState: (_, answer) => answer !== null && answer.remaining === null,
    textOf: String,
  };
}
