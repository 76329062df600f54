import { Type } from "@sinclair/typebox";
import { type SignInSettings, signInReturnPath } from "../../contracts/sign-in.ts";
import {
  cleanAddress,
  keyOf,
  Provider,
  SignInFailure,
  signInFailureOf,
  type Tokens,
  takeAttempt,
} from "./provider.ts";
import { forgetInTab, keepInTab, readFromTab } from "./tab-storage.ts";

/**
 * An access token, or the reason why there is none:
 * - `over`: the sign-in has ended
 * - `unavailable`: the identity provider does not respond
 */
type AccessToken = { ok: true; token: string } | { ok: false; reason: "over" | "unavailable" };

const RENEWAL_MS = 30_000;

/** The tokens of a sign-in, and the only identity provider that gets them. */
interface Held {
  readonly provider: Provider;
  readonly tokens: Tokens;
}

/** A person's sign-in at one of the identity providers. Only this object holds the tokens, in memory (PT-11). */
export class ProviderSession {
  readonly #providers: readonly Provider[];
  readonly #path: string;
  /** The provider of the next sign-in, if the person does not choose one: that of the last sign-in in this tab. */
  #provider: Provider;
  #held: Held | null = null;
  #renewal: Promise<AccessToken> | null = null;

  constructor([first, ...others]: readonly [SignInSettings, ...SignInSettings[]], path: string) {
    this.#path = path;
    this.#provider = new Provider(first, path);
    this.#providers = [this.#provider, ...others.map((settings) => new Provider(settings, path))];
    this.#provider = this.#providerAt(this.#remembered) ?? this.#provider;
  }

  /** Returns whether the page was opened at the redirect URI, to which the identity provider returns. */
  isReturn(): boolean {
    return location.pathname === signInReturnPath(this.#path);
  }

  /**
   * Redirects to the identity provider. In a silent sign-in the provider shows no page. Returns null, or the
   * failure if the redirect is not possible.
   *
   * @param issuer the issuer that the person chose; without it, that of the last sign-in
   */
  async begin(silent: boolean, issuer?: string): Promise<SignInFailure | null> {
    forgetInTab(this.#signedInKey);
    this.#provider = this.#providerAt(issuer) ?? this.#provider;
    return this.#provider.begin(location.hash, silent).then(() => null, signInFailureOf);
  }

  /**
   * Completes a sign-in at the issuer where it began, and restores the fragment. Returns the person's name, if known.
   */
  async finish(): Promise<string | SignInFailure | null> {
    const { search } = location;
    // Removes the code from the address bar and the history before any request.
    cleanAddress(this.#path, "#/");
    const attempt = takeAttempt(this.#path);
    const provider = this.#providerAt(attempt?.issuer);
    if (attempt === null || provider === undefined) return new SignInFailure("unsafe");
    this.#provider = provider;
    const tokens = await provider.finish(search, attempt).catch(signInFailureOf);
    cleanAddress(this.#path, attempt.fragment || "#/");
    if (tokens instanceof SignInFailure) return tokens;
    this.#held = { provider, tokens };
    return tokens.name;
  }

  #providerAt(issuer: string | null | undefined): Provider | undefined {
    return this.#providers.find((provider) => provider.issuer === issuer);
  }

  /** The issuer at which this tab was signed in, or null. */
  get #remembered(): string | null {
    return readFromTab(this.#signedInKey, Type.String());
  }

  /** Whether this tab was signed in. If so, a reload tries to sign in without a prompt. */
  get wasSignedIn(): boolean {
    return this.#remembered === this.#provider.issuer;
  }

  /** Lets a reload of this tab try to sign in without a prompt. */
  remember(): void {
    keepInTab(this.#signedInKey, this.#provider.issuer);
  }

  /** Forgets the tokens. Does not end the session at the identity provider. */
  forget(): void {
    this.#held = null;
    forgetInTab(this.#signedInKey);
  }

  /** Forgets the tokens, and ends the session at the identity provider if the provider supports that. */
  async signOut(): Promise<void> {
    const held = this.#held;
    this.forget();
    cleanAddress(this.#path, "#/");
    const end = held === null ? null : await held.provider.endAddress(held.tokens);
    if (end !== null) location.assign(end);
  }

  /**
   * Returns the access token, and renews it shortly before its expiry. Concurrent calls share a renewal,
   * because many identity providers accept a refresh token only once.
   *
   * @param refused whether an API has just refused the current token
   */
  async currentToken(refused: boolean): Promise<AccessToken> {
    const held = this.#held;
    if (held === null) return { ok: false, reason: "over" };
    const { tokens } = held;
    const isFresh = tokens.endsMs === null || tokens.endsMs - Date.now() > RENEWAL_MS;
    if (isFresh && !refused) return { ok: true, token: tokens.access_token };
    this.#renewal ??= this.#renew(held, refused).finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  async #renew(held: Held, refused: boolean): Promise<AccessToken> {
    const { provider, tokens } = held;
    const renewed = await provider.renew(tokens).catch(signInFailureOf);
    // The person may have signed out before the response arrived.
    if (this.#held !== held) return { ok: false, reason: "over" };
    if (!(renewed instanceof SignInFailure)) {
      this.#held = { provider, tokens: renewed };
      return { ok: true, token: renewed.access_token };
    }
    if (renewed.reason === "unsafe") {
      this.forget();
      return { ok: false, reason: "over" };
    }
    if (renewed.reason === "unavailable") return { ok: false, reason: "unavailable" };
    const isOver = refused || (tokens.endsMs !== null && tokens.endsMs <= Date.now());
    return isOver ? { ok: false, reason: "over" } : { ok: true, token: tokens.access_token };
  }

  get #signedInKey(): string {
    return keyOf(this.#path, "signed-in");
  }
}
