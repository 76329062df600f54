import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { SignInSettings } from "../../contracts/sign-in.ts";
import { SignInFailure } from "./provider.ts";
import { ProviderSession } from "./provider-session.ts";

/**
 * The reason why a page asks for a sign-in.
 *
 * - `out`: the person signed out
 * - `token`: the service no longer accepts the token that the person entered
 * - `unknown`: the service does not accept the person whom the identity provider signed in
 * - `failed`: a call of the service failed, as `detail` says
 * - others: the sign-in ended or failed, see {@link SignInFailure}
 */
export interface SignedOut {
  readonly reason: "out" | "token" | "unknown" | "failed" | SignInFailure["reason"];
  /** The message of the identity provider or the service. It is shown as text, never as markup. */
  readonly detail?: string;
}

type State =
  | { readonly name: "starting" | "signed-in" }
  | { readonly name: "signed-out"; readonly why: SignedOut | null };

/** A message for people. The number distinguishes messages with the same text. */
export interface Announcement {
  readonly text: string;
  readonly number: number;
}

/** The state that a whole page shares. Credentials are kept in memory only (PT-11, RG-136). */
export abstract class PageSession<Address> {
  /** The sign-in at an identity provider, or null if the page has no identity provider. */
  protected readonly provider: ProviderSession | null;
  readonly #addressAt: (fragment: string) => Address;
  readonly #state: Signal<State> = signal({ name: "starting" });
  readonly #announcement = signal<Announcement>({ text: "", number: 0 });
  readonly state: ReadonlySignal<State> = this.#state;
  /** The last message, which the page shows for some seconds and a screen reader announces. */
  readonly announcement: ReadonlySignal<Announcement> = this.#announcement;
  readonly address: Signal<Address>;

  /**
   * @param settings the identity providers
   * @param path the path of the page, such as `/portal`
   * @param addressAt parses the fragment of the URL
   */
  constructor(
    [first, ...others]: readonly SignInSettings[],
    path: string,
    addressAt: (fragment: string) => Address,
  ) {
    this.provider = first === undefined ? null : new ProviderSession([first, ...others], path);
    this.#addressAt = addressAt;
    this.address = signal(addressAt(location.hash));
  }

  follow(): void {
    this.address.value = this.#addressAt(location.hash);
  }

  announce(text: string): void {
    this.#announcement.value = { text, number: this.#announcement.value.number + 1 };
  }

  /** Completes a sign-in that returns from the identity provider, or signs in silently if this tab was signed in. */
  async start(): Promise<void> {
    if (this.provider?.isReturn()) await this.#comeBack(this.provider);
    else if (this.provider?.wasSignedIn) await this.signIn(true);
    else this.end(null);
  }

  /** Redirects to the provider of `issuer`, by default that of the last sign-in. If silent, it shows no page. */
  async signIn(silent = false, issuer?: string): Promise<void> {
    const failure = await this.provider?.begin(silent, issuer);
    if (failure) this.end(failure);
  }

  async #comeBack(provider: ProviderSession): Promise<void> {
    const name = await provider.finish();
    this.restore();
    this.follow();
    if (name instanceof SignInFailure) return this.end(name);
    const why = await this.open(name);
    if (why === null) return provider.remember();
    this.end(why);
  }

  /** Restores what the tab kept during the redirect. */
  protected abstract restore(): void;

  /**
   * Reads what the page shows of the person whom the identity provider has signed in, and calls
   * {@link begin}. Returns null, or the reason why the service does not accept the person.
   */
  protected abstract open(name: string | null): Promise<SignedOut | null>;

  protected abstract forget(): void;

  /** Shows the page as signed in, with the data that `show` sets. */
  protected begin(show: () => void): void {
    batch(() => {
      show();
      this.#state.value = { name: "signed-in" };
    });
  }

  /** Ends the sign-in on this page, and forgets the person. */
  protected end(why: SignedOut | null): void {
    batch(() => {
      this.forget();
      this.#state.value = { name: "signed-out", why };
    });
  }

  /**
   * Forgets all credentials, and ends the session at the identity provider if possible. At the next sign-in
   * the provider can ask for another account.
   */
  async signOut(): Promise<void> {
    this.end({ reason: "out" });
    await this.provider?.signOut();
  }
}

/** Replaces the fragment of the URL without a new history entry. */
export function replacePlace(fragment: string): void {
  history.replaceState(null, "", `${location.pathname}${fragment}`);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
