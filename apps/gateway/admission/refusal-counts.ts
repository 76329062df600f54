import { type RefusalReason, TOKEN_REFUSAL_REASONS } from "@ostiary/lib/runtime/tokens";

/** The reasons to refuse a credential, as `gateway_credentials_refused_total` and the log show them. */
export const REFUSAL_REASONS: readonly RefusalReason[] = [
  ...(["missing", "realm", "api_key", "person"] as const),
  ...TOKEN_REFUSAL_REASONS,
];

/** Counts refused credentials by reason. */
export class RefusalCounts {
  readonly #counts = new Map<RefusalReason, number>(REFUSAL_REASONS.map((reason) => [reason, 0]));

  add(reason: RefusalReason): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  readings(): { labels: { reason: RefusalReason }; value: number }[] {
    return Array.from(this.#counts, ([reason, value]) => ({ labels: { reason }, value }));
  }
}
