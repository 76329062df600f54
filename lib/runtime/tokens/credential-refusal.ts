export const TOKEN_REFUSAL_REASONS = [
  ...(["not_a_jwt", "too_long", "malformed", "type", "algorithm", "key_not_found", "signature"] as const),
  ...(["issuer", "audience", "expired", "not_yet_valid", "claim_missing", "claim_invalid"] as const),
] as const;

/** Only the gateway uses `realm`, `api_key` and `person`, only the registry `operator`. */
export type RefusalReason =
  | (typeof TOKEN_REFUSAL_REASONS)[number]
  | "missing"
  | "realm"
  | "api_key"
  | "person"
  | "operator";

/** Log lines contain the reason only at level `debug`. */
export class CredentialRefusal {
  readonly reason: RefusalReason;
  /** A sentence about the cause. It does not contain the credential. */
  readonly detail: string;

  constructor(reason: RefusalReason, detail: string) {
    this.reason = reason;
    this.detail = detail;
  }
}

const SHOWN_LENGTH_MAX = 128;

/** Returns a value from a token as JSON, shortened for a log line. */
export function shownValue(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
}
