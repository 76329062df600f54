import type { Model } from "../checker/model.ts";

export interface LimitCall {
  readonly bucket: string;
}

/** The `X-RateLimit-Remaining` of an admitted request; null for a refused one. */
export interface LimitAnswer {
  readonly remaining: number | null;
}

/**
 * A window admits exactly `requests`, over all gateways: the claims of GW-69 and GW-70. The state is the
 * count.
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
