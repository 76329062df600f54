import { Type } from "@sinclair/typebox";
import { type SignInSettings, signInReturnPath } from "../../contracts/sign-in.ts";
import { cleanAddress, type PagePlace, Provider, type SignInFailure, type Tokens } from "./provider.ts";
import { forgetInTab, keepInTab, readFromTab } from "./tab-storage.ts";

/** The result of a sign-in. `name` is the person's name, or null if the identity provider sent no name. */
type Returned = { ok: true; name: string | null } | { ok: false; failure: SignInFailure };

/**
 * An access token, or the reason why there is none:
 * - `over`: the sign-in has ended
 * - `away`: the identity provider does not answer
 */
type AccessToken = { ok: true; token: string } | { ok: false; reason: "over" | "away" };

/** How long before its expiry an access token is renewed. */
const RENEWAL_MS = 30_000;

/** A person's sign-in at the identity provider. Only this object holds the tokens, in memory (PT-11). */
export class ProviderSession {
  readonly #provider: Provider;
  readonly #place: PagePlace;
  #tokens: Tokens | null = null;
  #renewal: Promise<AccessToken> | null = null;

  constructor(settings: SignInSettings, place: PagePlace) {
    this.#provider = new Provider(settings, place);
    this.#place = place;
  }

  /** Returns whether the page was opened at the redirect URI, to which the identity provider returns. */
  isReturn(): boolean {
    return location.pathname === signInReturnPath(this.#place.path);
  }

  /**
   * Redirects to the identity provider. In a silent sign-in the provider shows no page. Returns null, or the
   * failure if the redirect is not possible.
   */
  async begin(silent: boolean): Promise<SignInFailure | null> {
    forgetInTab(this.#signedInKey);
    return this.#provider.begin(location.hash, silent);
  }

  /**
   * Completes a sign-in with the response in the URL's query, and restores the fragment at which the sign-in
   * began.
   */
  async finish(): Promise<Returned> {
    const { search } = location;
    // Removes the code from the address bar and the history before any request.
    cleanAddress(this.#place, "#/");
    const result = await this.#provider.finish(search);
    cleanAddress(this.#place, result.fragment || "#/");
    if (!result.ok) return result;
    this.#tokens = result.tokens;
    return { ok: true, name: result.tokens.name };
  }

  /** Whether this tab was signed in. If so, a reload tries to sign in without a prompt. */
  get wasSignedIn(): boolean {
    return readFromTab(this.#signedInKey, Type.Boolean()) === true;
  }

  /** Lets a reload of this tab try to sign in without a prompt. */
  remember(): void {
    keepInTab(this.#signedInKey, true);
  }

  /** Forgets the tokens. Does not end the session at the identity provider. */
  forget(): void {
    this.#tokens = null;
    forgetInTab(this.#signedInKey);
  }

  /** Forgets the tokens, and ends the session at the identity provider if the provider supports that. */
  async signOut(): Promise<void> {
    const tokens = this.#tokens;
    this.forget();
    cleanAddress(this.#place, "#/");
    const end = tokens === null ? null : await this.#provider.endAddress(tokens);
    if (end !== null) location.assign(end);
  }

  /**
   * Returns the access token, and renews it shortly before its expiry. Concurrent calls share a renewal,
   * because many identity providers accept a refresh token only once.
   *
   * @param refused whether an API has just refused the current token
   */
  async currentToken(refused: boolean): Promise<AccessToken> {
    const tokens = this.#tokens;
    if (tokens === null) return { ok: false, reason: "over" };
    const isFresh = tokens.endsMs === null || tokens.endsMs - Date.now() > RENEWAL_MS;
    if (isFresh && !refused) return { ok: true, token: tokens.access_token };
    this.#renewal ??= this.#renew(tokens, refused).finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  async #renew(tokens: Tokens, refused: boolean): Promise<AccessToken> {
    const result = await this.#provider.renew(tokens);
    // The person may have signed out before the response arrived.
    if (this.#tokens !== tokens) return { ok: false, reason: "over" };
    if (result.ok) {
      this.#tokens = result.tokens;
      return { ok: true, token: result.tokens.access_token };
    }
    if (result.failure.kind === "unsafe") {
      this.forget();
      return { ok: false, reason: "over" };
    }
    if (result.failure.kind === "away") return { ok: false, reason: "away" };
    const isOver = refused || (tokens.endsMs !== null && tokens.endsMs <= Date.now());
    return isOver ? { ok: false, reason: "over" } : { ok: true, token: tokens.access_token };
  }

  get #signedInKey(): string {
    return `${this.#place.storage}.signed-in`;
  }
}
