import type { ConsoleSettings, CurrentOperator } from "@ostiary/lib/contracts/registry-api";
import * as page from "@ostiary/lib/page";
import { keepInTab, ProviderSession, takeFromTab } from "@ostiary/lib/page";
import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { Type } from "@sinclair/typebox";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type View, viewAt } from "./address.ts";
import { listServices, readOperator } from "./registry/calls.ts";
import { Registry } from "./registry/client.ts";
import { asFailure, type Failure } from "./registry/failure.ts";
import type { Services } from "./routes/rows.ts";
import {
  registryRefused,
  SIGN_IN_ENDED,
  SIGNED_OUT,
  type SignedOut,
  signInFailed,
  TOKEN_REFUSED,
  tokensOf,
} from "./sign-in/signed-out.ts";

/** The state of a request to the registry, with its result. */
export type Asked<Answer> = page.Asked<Answer, Failure>;

const NOTHING: Asked<never> = { loading: true, answer: null, failure: null };

const PAGE_PATH = "/console";
const STORAGE = "ostiary.console";
/** The storage key of the text in the apply form, which survives the redirect to the identity provider. */
const DOCUMENT = `${STORAGE}.document`;

/**
 * The state that the whole page shares. Tokens are kept in memory only: in {@link Registry} or in
 * {@link ProviderSession} (RG-136).
 */
export class Session {
  /** The sign-in at the identity provider, or null if the registry has no identity provider. */
  readonly #provider: ProviderSession | null;
  readonly #isStarting = signal(false);
  readonly #signedInBy = signal<"token" | "provider" | null>(null);
  readonly #registry = signal<Registry | null>(null);
  readonly #operator = signal<CurrentOperator | null>(null);
  readonly #catalog = signal<Asked<Services>>(NOTHING);
  readonly #unreadable = signal<readonly string[]>([]);
  readonly #ended = signal<SignedOut | null>(null);
  readonly #announcement = signal("");

  /** Whether the page is completing or renewing a sign-in at the identity provider. */
  readonly isStarting: ReadonlySignal<boolean> = this.#isStarting;
  readonly signedInBy: ReadonlySignal<"token" | "provider" | null> = this.#signedInBy;
  /** The client of the registry, or null before sign-in. */
  readonly registry: ReadonlySignal<Registry | null> = this.#registry;
  /** The operator who is signed in, as the registry last reported. Null before sign-in. */
  readonly operator: ReadonlySignal<CurrentOperator | null> = this.#operator;
  readonly catalog: ReadonlySignal<Asked<Services>> = this.#catalog;
  /** The services that the registry cannot read, because another version of Ostiary stored them. */
  readonly unreadable: ReadonlySignal<readonly string[]> = this.#unreadable;
  /** The reason why the page asks for a sign-in, or null if there is none. */
  readonly ended: ReadonlySignal<SignedOut | null> = this.#ended;
  /** The text that a screen reader announces next. */
  readonly announcement: ReadonlySignal<string> = this.#announcement;
  readonly view: Signal<View | null>;
  /** The text in the apply form. The text is kept when the view changes, and across a new sign-in. */
  readonly document = signal("");

  constructor(settings: ConsoleSettings["sign_in"]) {
    const place = { origin: location.origin, path: PAGE_PATH, storage: STORAGE };
    const provider = settings === null ? null : new ProviderSession(settings, place);
    this.#provider = provider;
    this.#isStarting.value = provider !== null && (provider.isReturn() || provider.wasSignedIn);
    this.view = signal(viewAt(location.hash));
  }

  /** Whether people can sign in at an identity provider. */
  get hasProvider(): boolean {
    return this.#provider !== null;
  }

  announce(text: string): void {
    this.#announcement.value = text;
  }

  /**
   * Completes the sign-in if the browser returns from the identity provider. Otherwise signs in silently if
   * this tab was signed in before.
   */
  async start(): Promise<void> {
    const provider = this.#provider;
    if (provider === null) return;
    if (provider.isReturn()) await this.#comeBack(provider);
    else if (provider.wasSignedIn) await this.signIn(true);
  }

  /** Redirects to the identity provider. In a silent sign-in the provider shows no page. */
  async signIn(silent = false): Promise<void> {
    if (this.document.peek() !== "") keepInTab(DOCUMENT, this.document.peek());
    const failure = await this.#provider?.begin(silent);
    if (failure !== null && failure !== undefined) this.#stop(signInFailed(failure));
  }

  async #comeBack(provider: ProviderSession): Promise<void> {
    const result = await provider.finish();
    this.view.value = viewAt(location.hash);
    this.document.value = takeFromTab(DOCUMENT, Type.String()) ?? "";
    if (!result.ok) return this.#stop(signInFailed(result.failure));
    try {
      await this.#open(new Registry(tokensOf(provider)), "provider");
      provider.remember();
    } catch (thrown) {
      this.#stop(registryRefused(asFailure(thrown)));
    }
  }

  /**
   * Signs in with the token of an operator.
   *
   * @throws Failure when the registry refuses the token or does not answer
   */
  enter(token: string): Promise<void> {
    this.#ended.value = null;
    return this.#open(new Registry(token), "token");
  }

  async #open(registry: Registry, way: "token" | "provider"): Promise<void> {
    const [operator, found] = await Promise.all([readOperator(registry), listServices(registry)]);
    batch(() => {
      this.#registry.value = registry;
      this.#signedInBy.value = way;
      this.#operator.value = operator;
      this.#show(found);
      this.#ended.value = null;
      this.#isStarting.value = false;
    });
  }

  /** Forgets the token. After a sign-in at the identity provider, ends the provider's session too. */
  async signOut(): Promise<void> {
    if (this.#signedInBy.peek() === "provider") await this.leaveProvider();
    else this.#stop(null);
  }

  /**
   * Forgets the tokens, and ends the session at the identity provider if possible. At the next sign-in the
   * provider can ask for another account.
   */
  async leaveProvider(): Promise<void> {
    this.#stop(SIGNED_OUT);
    await this.#provider?.signOut();
  }

  /** Signs out on this page, and forgets all data from the registry. */
  #stop(reason: SignedOut | null): void {
    batch(() => {
      this.#registry.value = null;
      this.#signedInBy.value = null;
      this.#operator.value = null;
      this.#catalog.value = NOTHING;
      this.#unreadable.value = [];
      this.#ended.value = reason;
      this.#isStarting.value = false;
    });
  }

  /**
   * Runs requests to the registry. Signs out if the registry no longer accepts the token. After a 403, reads
   * the role again, because the role may have changed (RG-133).
   */
  async ask<Answer>(work: (registry: Registry) => Promise<Answer>): Promise<Answer> {
    const registry = this.#registry.peek();
    if (registry === null) throw new Error("Nobody is signed in.");
    try {
      return await work(registry);
    } catch (thrown) {
      const failure = asFailure(thrown);
      if (failure.kind === "refused" && this.#registry.peek() === registry) {
        const isToken = this.#signedInBy.peek() === "token";
        if (!isToken) this.#provider?.forget();
        this.#stop(isToken ? TOKEN_REFUSED : SIGN_IN_ENDED);
      }
      if (failure.kind === "forbidden") void this.#readOperator(registry);
      throw failure;
    }
  }

  /** Reads the operator's role and all services again. */
  async refresh(): Promise<void> {
    const { answer } = this.#catalog.peek();
    this.#catalog.value = { loading: true, answer, failure: null };
    try {
      const [operator, found] = await this.ask((registry) =>
        Promise.all([readOperator(registry), listServices(registry)]),
      );
      batch(() => {
        this.#operator.value = operator;
        this.#show(found);
      });
    } catch (thrown) {
      // after sign-out no view shows the failure
      if (this.#registry.peek() === null) return;
      this.#catalog.value = { loading: false, answer, failure: asFailure(thrown) };
    }
  }

  /** Reads the role again. Ignores a failure, because the registry checks the role at every write. */
  async #readOperator(registry: Registry): Promise<void> {
    const operator = await readOperator(registry).catch(() => null);
    if (operator !== null && this.#registry.peek() === registry) this.#operator.value = operator;
  }

  #show({ services, unreadable = {} }: Awaited<ReturnType<typeof listServices>>): void {
    this.#catalog.value = { loading: false, answer: services, failure: null };
    this.#unreadable.value = Object.keys(unreadable);
  }
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("This component is not inside a SessionContext.Provider.");
  return session;
}

/** Returns the operator who is signed in, for views that require a sign-in. */
export function useOperator(): CurrentOperator {
  const operator = useSession().operator.value;
  if (operator === null) throw new Error("No operator is signed in.");
  return operator;
}

/** Runs `work` on the first render, when `about` changes, and when `again` is called. */
export function useAsked<Answer>(work: (registry: Registry) => Promise<Answer>, about: string) {
  const session = useSession();
  return page.useAsked<Answer, Failure>(
    () =>
      session.ask(work).then(
        (value) => ({ ok: true, value }),
        (thrown) => ({ ok: false, failure: asFailure(thrown) }),
      ),
    about,
  );
}
