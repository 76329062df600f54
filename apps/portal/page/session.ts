import { Session as MemberSession, Membership, User } from "@ostiary/lib/contracts/identity-api";
import { ProviderSession, type SignInFailure } from "@ostiary/lib/page";
import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Static } from "@sinclair/typebox";
import { createContext } from "preact";
import { useContext, useRef, useState } from "preact/hooks";
import { type Address, addressAt } from "./address.ts";
import { type Answer, answered, type Failure, failed } from "./failure.ts";
import { type Caller, Gateway, pathTo } from "./gateway.ts";
import type { PortalSettings } from "./settings.ts";
import { forgetInvite, keepInvite, readInvite } from "./sign-in/kept-invite.ts";
import { languageFor } from "./texts/texts.ts";

/** The person who is signed in. */
export interface Person {
  readonly id: string;
  readonly name: string | null;
}

/** The person's membership in the chosen organization. */
interface ChosenMember {
  readonly member_id: string;
  readonly organization_id: string;
  readonly organization_name: string;
  readonly role: string | null;
  readonly labels: readonly string[];
}

/** The reason why the page asks for a sign-in, or null before the first sign-in. */
export type SignedOutReason = "out" | "ended" | "unknown" | SignInFailure | null;

export type State =
  | { name: "starting" }
  | { name: "signed-out"; reason: SignedOutReason }
  | { name: "signed-in" };

/** How long before its expiry a session is renewed. */
const RENEWAL_MS = 5 * 60_000;
const EVERY_LABEL = "*";
const PAGE_PATH = "/portal";
const INVITE_PATH = `${PAGE_PATH}/invite`;

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
  readonly #member = signal<ChosenMember | null>(null);
  readonly #announcement = signal("");
  #session: Static<typeof MemberSession> | null = null;
  #minting: Promise<Answer<string>> | null = null;

  constructor(settings: PortalSettings) {
    this.settings = settings;
    this.#provider = new ProviderSession(settings, {
      origin: location.origin,
      path: PAGE_PATH,
      storage: "ostiary.portal",
    });
    this.gateway = new Gateway({ headers: (caller, renewed) => this.#headers(caller, renewed) });
    this.address = signal(addressAt(location.hash));
    this.language = signal(languageFor(navigator.languages, settings.languages));
  }

  get state(): ReadonlySignal<State> {
    return this.#state;
  }

  get person(): ReadonlySignal<Person | null> {
    return this.#person;
  }

  /** The membership in the chosen organization, or null while no session is open in an organization. */
  get member(): ReadonlySignal<ChosenMember | null> {
    return this.#member;
  }

  /** The text that a screen reader announces next. */
  get announcement(): ReadonlySignal<string> {
    return this.#announcement;
  }

  announce(text: string): void {
    this.#announcement.value = text;
  }

  /** Returns whether the member's role grants a label. The page only hides parts; the gateway decides. */
  may(label: string): boolean {
    const labels = this.#member.value?.labels ?? [];
    return labels.includes(EVERY_LABEL) || labels.includes(label);
  }

  /**
   * Completes the sign-in if the browser returns from the identity provider. Otherwise starts a silent
   * sign-in if this tab was signed in before.
   */
  async start(): Promise<void> {
    const { pathname, hash } = location;
    if (pathname === INVITE_PATH) keepInvite(hash.slice(1));
    if (this.#provider.isReturn()) return this.#comeBack();
    if (pathname === INVITE_PATH) history.replaceState(null, "", `${PAGE_PATH}#/invite`);
    this.invite.value = readInvite();
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
    this.invite.value = readInvite();
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
    forgetInvite();
    batch(() => {
      this.invite.value = null;
      this.#state.value = { name: "signed-out", reason: "out" };
    });
    await this.#provider.signOut();
  }

  /** Forgets the invitation whose link the person opened. */
  discardInvite(): void {
    forgetInvite();
    this.invite.value = null;
  }

  #forget(): void {
    this.#session = null;
    batch(() => {
      this.#person.value = null;
      this.#member.value = null;
    });
  }

  /** Creates a session in an organization, unless the current session is in the same organization. */
  async choose(organization_id: string): Promise<Answer<ChosenMember>> {
    const present = this.#member.peek();
    if (present?.organization_id === organization_id) return answered(present);
    this.#session = null;
    this.#member.value = null;
    return this.#open(organization_id);
  }

  /** Creates a new session for the chosen organization, so that the page shows a changed role or name. */
  async refresh(): Promise<Answer<ChosenMember>> {
    const { organization_id } = this.#member.peek() ?? {};
    return organization_id === undefined ? failed("missing") : this.#open(organization_id);
  }

  async #open(organization_id: string): Promise<Answer<ChosenMember>> {
    const name = await this.#nameOf(organization_id);
    if (!name.ok) return name;
    const session = await this.#mint(organization_id);
    if (!session.ok) return session;
    const member = memberOf(session.value, name.value);
    // The person may have chosen another organization before the response arrived.
    if (this.address.peek().organization_id === organization_id) {
      this.#session = session.value;
      this.#member.value = member;
    }
    return answered(member);
  }

  async #nameOf(organization_id: string): Promise<Answer<string>> {
    const found = await listMemberships(this.gateway);
    if (!found.ok) return found;
    const membership = found.value.find(({ organization }) => organization.id === organization_id);
    return membership === undefined ? failed("missing") : answered(membership.organization.name);
  }

  #mint(organization_id: string): Promise<Answer<Static<typeof MemberSession>>> {
    return this.gateway.send(MemberSession, pathTo("user", "organizations", organization_id, "session"), {
      as: "person",
      method: "POST",
      body: {},
    });
  }

  async #headers(caller: Caller, renewed: boolean): Promise<Answer<Record<string, string>>> {
    if (caller === "nobody") return answered({});
    if (caller === "person") {
      const token = await this.#currentToken(renewed);
      return token.ok ? answered({ Authorization: `Bearer ${token.value}` }) : token;
    }
    const token = await this.#sessionToken(renewed);
    return token.ok ? answered({ "X-API-Key": token.value }) : token;
  }

  async #currentToken(renewed: boolean): Promise<Answer<string>> {
    const found = await this.#provider.currentToken(renewed);
    if (found.ok) return answered(found.token);
    return failed(found.reason === "away" ? "away" : "signed_out");
  }

  /** Returns the session's token, renewed shortly before its expiry. Concurrent calls share a renewal. */
  async #sessionToken(renewed: boolean): Promise<Answer<string>> {
    const session = this.#session;
    if (session === null) return failed("signed_out");
    const leftMs = Date.parse(session.expires_at) - Date.now();
    if (leftMs > RENEWAL_MS && !renewed) return answered(session.token);
    this.#minting ??= this.#renewSession(session, renewed).finally(() => {
      this.#minting = null;
    });
    return this.#minting;
  }

  async #renewSession(before: Static<typeof MemberSession>, refused: boolean): Promise<Answer<string>> {
    const minted = await this.#mint(before.organization_id);
    if (minted.ok) {
      // The person may have chosen another organization before the response arrived.
      if (this.#session === before) {
        this.#session = minted.value;
        this.#member.value = memberOf(minted.value, this.#member.peek()?.organization_name ?? "");
      }
      return answered(minted.value.token);
    }
    const usable = !refused && Date.parse(before.expires_at) > Date.now();
    return usable ? answered(before.token) : minted;
  }
}

function memberOf(
  { member_id, organization_id, role, labels }: Static<typeof MemberSession>,
  organization_name: string,
): ChosenMember {
  return { member_id, organization_id, organization_name, role, labels };
}

/** Reads all memberships of the person. A person has few memberships. */
export async function listMemberships(gateway: Gateway): Promise<Answer<Static<typeof Membership>[]>> {
  const all: Static<typeof Membership>[] = [];
  for (;;) {
    const page = await gateway.list("memberships", Membership, pathTo("user", "memberships"), {
      as: "person",
      query: { limit: 100, starting_after: all.at(-1)?.id },
    });
    if (!page.ok) return page;
    all.push(...page.value.items);
    if (!page.value.has_more || page.value.items.length === 0) return answered(all);
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

export { useAsked } from "@ostiary/lib/page";

export interface Writing {
  readonly busy: boolean;
  readonly failure: Failure | null;
  /** Makes a change. Does nothing while another change is in flight, so a double click writes only once. */
  write<Result>(work: () => Promise<Answer<Result>>, done: (value: Result) => void): Promise<void>;
  /** Forgets the failure. */
  clear(): void;
}

export function useWrite(): Writing {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const underway = useRef(false);
  return {
    busy,
    failure,
    async write(work, done) {
      if (underway.current) return;
      underway.current = true;
      setBusy(true);
      setFailure(null);
      const result = await work();
      underway.current = false;
      setBusy(false);
      if (result.ok) done(result.value);
      else setFailure(result.failure);
    },
    clear: () => setFailure(null),
  };
}
