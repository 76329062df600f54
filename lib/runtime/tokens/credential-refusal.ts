/** The reasons to refuse a JWT, each the name of a failed check. */
export const TOKEN_REFUSAL_REASONS = [
  ...(["not_a_jwt", "too_long", "malformed", "type", "algorithm", "key_not_found", "signature"] as const),
  ...(["issuer", "audience", "expired", "not_yet_valid", "claim_missing", "claim_invalid"] as const),
] as const;

/**
 * The reasons to refuse a credential. Only the gateway uses `realm`, `api_key` and `person`; only the
 * registry uses `operator`.
 */
export type RefusalReason =
  | (typeof TOKEN_REFUSAL_REASONS)[number]
  | "missing"
  | "realm"
  | "api_key"
  | "person"
  | "operator";

/** A refused credential. The log shows the reason at level `debug`; the caller never sees it. */
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
