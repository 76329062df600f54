import type { Credential } from "./credentials.ts";
import { SYSTEM_TIME, stopwatch, type Time } from "./time.ts";

/** A session, with how long it is valid after it was asked for. */
export interface MintedSession {
  readonly token: string;
  readonly lifetimeMs: number;
}

/** The share of its lifetime after which a session is renewed: five minutes before the end of an hour. */
const RENEWED_AFTER = 11 / 12;
/** The lifetime of a session (ID-67), for a response whose headers do not have it. */
const LIFETIME_MS = 3_600_000;

/**
 * Returns how long the server said that a session is valid: until `expires_at`, from the `Date` of the same
 * response. Browsers hide `Date` from pages of another origin.
 */
export function lifetimeOf(expires_at: unknown, { headers }: Response): number {
  const lifetimeMs = Date.parse(String(expires_at)) - Date.parse(headers.get("Date") ?? "");
  return lifetimeMs > 0 ? lifetimeMs : LIFETIME_MS;
}

/**
 * The session of a member. Mints the session on first use, and renews it for all calls at once. No signal ends a
 * renewal, for which other calls may wait.
 */
export class SessionCredential implements Credential {
  readonly header = "X-API-Key";
  readonly #mint: () => Promise<MintedSession>;
  readonly #time: Time;
  #current: (MintedSession & { readonly ageMs: () => number }) | null = null;
  #minting: Promise<string> | null = null;

  constructor(mint: () => Promise<MintedSession>, time: Time = SYSTEM_TIME) {
    this.#mint = mint;
    this.#time = time;
  }

  value(refused: string | null): string | Promise<string> {
    const current = this.#current;
    const isRefused = current?.token === refused;
    if (current !== null && !isRefused && current.ageMs() < current.lifetimeMs * RENEWED_AFTER)
      return current.token;
    this.#minting ??= this.#renew(isRefused).finally(() => {
      this.#minting = null;
    });
    return this.#minting;
  }

  async #renew(isRefused: boolean): Promise<string> {
    const ageMs = stopwatch(this.#time);
    const before = this.#current;
    try {
      this.#current = { ...(await this.#mint()), ageMs };
      return this.#current.token;
    } catch (error) {
      if (before !== null && !isRefused && before.ageMs() < before.lifetimeMs) return before.token;
      throw error;
    }
  }
}
