/**
 * The reasons to refuse a credential: a label of `gateway_credentials_refused_total` and a field of the log.
 */
export const REFUSAL_REASONS = [
  ...(["missing", "realm", "api_key", "person"] as const),
  ...(["not_a_jwt", "too_long", "malformed", "type", "algorithm", "key_not_found", "signature"] as const),
  ...(["issuer", "audience", "expired", "not_yet_valid", "claim_missing", "claim_invalid"] as const),
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** A refused credential. The log has the reason at level `debug`; the caller never learns it. */
export class CredentialRefusal {
  readonly reason: RefusalReason;
  /** One sentence that does not contain the credential. */
  readonly detail: string;

  constructor(reason: RefusalReason, detail: string) {
    this.reason = reason;
    this.detail = detail;
  }
}

const SHOWN_LENGTH_MAX = 128;

/** Returns a value of a token's header or payload as JSON, cut to a length that fits a log line. */
export function shownValue(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
}

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
