import { User } from "@ostiary/lib/contracts/identity-api";
import { forgetInTab, keepInTab, ProviderSession, readFromTab, type SignInFailure } from "@ostiary/lib/page";
import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { Type } from "@sinclair/typebox";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type Address, addressAt } from "./address.ts";
import { type Answer, answered, type Failure, failed } from "./failure.ts";
import { type Caller, Gateway, pathTo } from "./gateway.ts";
import { type ChosenMember, OrganizationSession } from "./organization-session.ts";
import type { PortalSettings } from "./settings.ts";
import { languageFor } from "./texts/texts.ts";

/** The person who is signed in. */
export interface Person {
  readonly id: string;
  readonly name: string | null;
}

/** The reason why the page asks for a sign-in, or null before the first sign-in. */
export type SignedOutReason = "out" | "ended" | "unknown" | SignInFailure | null;

export type State =
  | { name: "starting" }
  | { name: "signed-out"; reason: SignedOutReason }
  | { name: "signed-in" };

const EVERY_LABEL = "*";
const PAGE_PATH = "/portal";
const INVITE_PATH = `${PAGE_PATH}/invite`;
/** The key of the token of an invitation in the tab, where the token survives the sign-in. */
const KEPT_INVITE = "ostiary.portal.invite";

/** The state that the whole page shares. Credentials are kept in memory only (PT-11). */
export class Session {
  readonly settings: PortalSettings;
  readonly gateway: Gateway;
  readonly address: Signal<Address>;
  readonly language: Signal<string>;
  /** The token of the invitation whose link the person opened, or null. */
  readonly invite: Signal<string | null> = signal(null);
  readonly #provider: ProviderSession;
  readonly #state: Signal<State> = signal<State>({ name: "starting" });
  readonly #person = signal<Person | null>(null);
  readonly #announcement = signal("");
  readonly organization: OrganizationSession;
  readonly state: ReadonlySignal<State> = this.#state;
  readonly person: ReadonlySignal<Person | null> = this.#person;
  /** The text that a screen reader announces next. */
  readonly announcement: ReadonlySignal<string> = this.#announcement;

  constructor(settings: PortalSettings) {
    this.settings = settings;
    this.#provider = new ProviderSession(settings, {
      origin: location.origin,
      path: PAGE_PATH,
      storage: "ostiary.portal",
    });
    this.gateway = new Gateway({ headers: (caller, renewed) => this.#headers(caller, renewed) });
    this.address = signal(addressAt(location.hash));
    this.organization = new OrganizationSession(
      this.gateway,
      (id) => this.address.peek().organization_id === id,
    );
    this.language = signal(languageFor(navigator.languages, settings.languages));
  }

  /** The membership in the chosen organization, or null while no session is open in an organization. */
  get member(): ReadonlySignal<ChosenMember | null> {
    return this.organization.member;
  }

  announce(text: string): void {
    this.#announcement.value = text;
  }

  /** Returns whether the member's role grants a label. The page only hides parts; the gateway decides. */
  may(label: string): boolean {
    const labels = this.member.value?.labels ?? [];
    return labels.includes(EVERY_LABEL) || labels.includes(label);
  }

  /**
   * Completes the sign-in if the browser returns from the identity provider. Otherwise starts a silent
   * sign-in if this tab was signed in before.
   */
  async start(): Promise<void> {
    const { pathname, hash } = location;
    if (pathname === INVITE_PATH) keepInTab(KEPT_INVITE, hash.slice(1));
    if (this.#provider.isReturn()) return this.#comeBack();
    if (pathname === INVITE_PATH) history.replaceState(null, "", `${PAGE_PATH}#/invite`);
    this.invite.value = readFromTab(KEPT_INVITE, Type.String());
    this.address.value = addressAt(location.hash);
    if (this.#provider.wasSignedIn) return this.signIn(true);
    this.#state.value = { name: "signed-out", reason: null };
  }

  /** Redirects to the identity provider. In a silent sign-in the provider shows no page. */
  async signIn(silent = false): Promise<void> {
    const failure = await this.#provider.begin(silent);
    if (failure !== null) this.#state.value = { name: "signed-out", reason: failure };
  }

  async #comeBack(): Promise<void> {
    const result = await this.#provider.finish();
    this.invite.value = readFromTab(KEPT_INVITE, Type.String());
    this.address.value = addressAt(location.hash);
    if (!result.ok) {
      const { failure } = result;
      this.#state.value = { name: "signed-out", reason: failure.kind === "needed" ? "ended" : failure };
      return;
    }
    const person = await this.gateway.send(User, pathTo("user"), { as: "person" });
    if (!person.ok) {
      this.#provider.forget();
      this.#forget();
      this.#state.value = { name: "signed-out", reason: reasonOf(person.failure) };
      return;
    }
    this.#provider.remember();
    batch(() => {
      this.#person.value = {
        id: person.value.id,
        name: person.value.display_name ?? result.name,
      };
      this.#state.value = { name: "signed-in" };
    });
  }

  /**
   * Forgets all tokens, and ends the session at the identity provider if possible. A session in an
   * organization cannot be revoked. It expires within an hour (ID-66).
   */
  async signOut(): Promise<void> {
    this.#forget();
    forgetInTab(KEPT_INVITE);
    batch(() => {
      this.invite.value = null;
      this.#state.value = { name: "signed-out", reason: "out" };
    });
    await this.#provider.signOut();
  }

  /** Forgets the invitation whose link the person opened. */
  discardInvite(): void {
    forgetInTab(KEPT_INVITE);
    this.invite.value = null;
  }

  #forget(): void {
    batch(() => {
      this.#person.value = null;
      this.organization.forget();
    });
  }

  async #headers(caller: Caller, renewed: boolean): Promise<Answer<Record<string, string>>> {
    if (caller === "nobody") return answered({});
    if (caller === "person") {
      const token = await this.#currentToken(renewed);
      return token.ok ? answered({ Authorization: `Bearer ${token.value}` }) : token;
    }
    const token = await this.organization.token(renewed);
    return token.ok ? answered({ "X-API-Key": token.value }) : token;
  }

  async #currentToken(renewed: boolean): Promise<Answer<string>> {
    const found = await this.#provider.currentToken(renewed);
    if (found.ok) return answered(found.token);
    return failed(found.reason === "away" ? "away" : "signed_out");
  }
}

function reasonOf({ kind }: Failure): SignedOutReason {
  if (kind === "signed_out" || kind === "forbidden") return "unknown";
  return { kind: "away", message: "" };
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("This component is not inside a SessionContext.Provider.");
  return session;
}
