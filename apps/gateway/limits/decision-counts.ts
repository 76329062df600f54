import type { CompiledRoute } from "@ostiary/lib/domain/routes";
import type { Reading } from "@ostiary/lib/runtime/telemetry";

export class PolicyDecisions {
  admitted = 0;
  refused = 0;
  /** Requests that were not counted because the counter store was down. */
  uncounted = 0;
}

/** The name of the series for all inline limits. One series for each inline limit would be too many. */
const INLINE = "route";
const INLINE_PREFIX = `${INLINE}:`;

/**
 * Counts decisions by policy: `fallback`, `route` for inline limits, `local:{service}:{name}` and
 * `shared:{name}` for policies, `denied` for the failed-authentication limiter. The number of series is
 * bounded by the published policies.
 */
export class DecisionCounts {
  readonly denied = new PolicyDecisions();
  readonly #fallback = new PolicyDecisions();
  readonly #inline = new PolicyDecisions();
  readonly #named = new Map<string, PolicyDecisions>();

  of({ rate_limit, bucketPrefix }: Pick<CompiledRoute, "rate_limit" | "bucketPrefix">): PolicyDecisions {
    return rate_limit === "fallback" ? this.#fallback : this.ofPolicy(bucketPrefix);
  }

  /** Returns the decisions of the policy whose buckets have this prefix, or of all inline limits. */
  ofPolicy(bucketPrefix: string): PolicyDecisions {
    if (bucketPrefix.startsWith(INLINE_PREFIX)) return this.#inline;
    const known = this.#named.get(bucketPrefix);
    if (known !== undefined) return known;
    const begun = new PolicyDecisions();
    this.#named.set(bucketPrefix, begun);
    return begun;
  }

  readings(): Reading[] {
    const named = Array.from(this.#named, ([prefix, of]) => [prefix.slice(0, -1), of] as const);
    const all = [
      ["fallback", this.#fallback],
      [INLINE, this.#inline],
      ["denied", this.denied],
      ...named,
    ] as const;
    return all.flatMap(([policy, decisions]) =>
      (["admitted", "refused", "uncounted"] as const).map((decision) => ({
        labels: { policy, decision },
        value: decisions[decision],
      })),
    );
  }
}
