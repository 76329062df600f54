import type { CompiledRoute } from "@ostiary/lib/domain/routes";
import type { Reading } from "@ostiary/lib/runtime/telemetry";

/** How limited requests of one policy were decided. */
export class PolicyDecisions {
  admitted = 0;
  refused = 0;
  /** The counter store was away. */
  uncounted = 0;
}

/** Of routes with a limit of their own: they are too many for a series each. */
const INLINE = "route";
const INLINE_PREFIX = `${INLINE}:`;

/**
 * Counts decisions by policy: `fallback`, `route` for limits written at a route, `local:{service}:{name}` and
 * `shared:{name}` for those with a name, `denied` for the failed-authentication limiter. So there are no more of them
 * than operators publish.
 */
export class LimitDecisions {
  readonly denied = new PolicyDecisions();
  readonly #fallback = new PolicyDecisions();
  readonly #inline = new PolicyDecisions();
  /** By the bucket prefix. */
  readonly #named = new Map<string, PolicyDecisions>();

  of({ rateLimit, bucketPrefix }: Pick<CompiledRoute, "rateLimit" | "bucketPrefix">): PolicyDecisions {
    if (rateLimit === "fallback") return this.#fallback;
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
