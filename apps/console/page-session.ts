import type { ConsoleSettings, CurrentOperator } from "@ostiary/lib/contracts/registry-api";
import * as page from "@ostiary/lib/page";
import {
  type Answer,
  type Asked,
  keepInTab,
  NOTHING_ASKED,
  requiredContext,
  type SignedOut,
  takeFromTab,
} from "@ostiary/lib/page";
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { Type } from "@sinclair/typebox";
import { type View, viewAt } from "./address.ts";
import { listServices, readOperator } from "./registry/calls.ts";
import { answerOf, messageOf, Registry } from "./registry/client.ts";
import type { Services } from "./routes/rows.ts";
import { tokensOf } from "./sign-in/tokens.ts";

const PAGE_PATH = "/console";
/** The storage key of the text in the apply form, which survives the redirect to the identity provider. */
const DOCUMENT = "ostiary.console.document";

/** The state that the whole page shares. A token that an operator entered is kept in {@link Registry} only. */
export class Session extends page.PageSession<View | null> {
  readonly #registry = signal<Registry | null>(null);
  readonly #signedInBy = signal<"token" | "provider">("token");
  readonly #operator = signal<CurrentOperator | null>(null);
  readonly #catalog = signal<Asked<Services>>(NOTHING_ASKED);
  readonly #unreadable = signal<readonly string[]>([]);
  readonly signedInBy: ReadonlySignal<"token" | "provider"> = this.#signedInBy;
  /** The operator who is signed in, as the registry last reported. Null before sign-in. */
  readonly operator: ReadonlySignal<CurrentOperator | null> = this.#operator;
  readonly catalog: ReadonlySignal<Asked<Services>> = this.#catalog;
  /** The services that the registry cannot read, because another version of Ostiary stored them. */
  readonly unreadable: ReadonlySignal<readonly string[]> = this.#unreadable;
  /** The text in the apply form. The text is kept when the view changes, and across a new sign-in. */
  readonly document = signal("");

  constructor(settings: ConsoleSettings["sign_in"]) {
    super(settings === null ? [] : [settings], PAGE_PATH, viewAt);
  }

  /** Whether people can sign in at an identity provider. */
  get hasProvider(): boolean {
    return this.provider !== null;
  }

  override async signIn(silent = false): Promise<void> {
    if (this.document.peek() !== "") keepInTab(DOCUMENT, this.document.peek());
    await super.signIn(silent);
  }

  protected restore(): void {
    this.document.value = takeFromTab(DOCUMENT, Type.String()) ?? "";
  }

  protected async open(): Promise<SignedOut | null> {
    const { provider } = this;
    if (provider === null) return null;
    const opened = await this.#openAs("provider", () => new Registry(tokensOf(provider)));
    if (opened.ok) return null;
    const { failure } = opened;
    if (failure.kind === "signed_out") return { reason: "unknown" };
    return { reason: "failed", detail: messageOf(failure) };
  }

  /** Signs in with the token of an operator. Fails if the registry refuses the token or does not answer. */
  enter(token: string): Promise<Answer<void>> {
    this.end(null);
    return this.#openAs("token", () => new Registry(token));
  }

  #openAs(way: "token" | "provider", clientOf: () => Registry): Promise<Answer<void>> {
    return answerOf(async () => {
      const registry = clientOf();
      const found = await readCatalog(registry);
      this.begin(() => {
        this.#registry.value = registry;
        this.#signedInBy.value = way;
        this.#show(found);
      });
    });
  }

  /** Forgets the token. After a sign-in at the identity provider, ends the provider's session too. */
  async leave(): Promise<void> {
    if (this.#signedInBy.peek() === "provider") await this.signOut();
    else this.end(null);
  }

  protected forget(): void {
    this.#registry.value = null;
    this.#operator.value = null;
    this.#catalog.value = NOTHING_ASKED;
    this.#unreadable.value = [];
  }

  /**
   * Runs requests to the registry. Signs out if the registry no longer accepts the token. After a 403, reads
   * the role again, because the role may have changed (RG-133).
   */
  async ask<Result>(work: (registry: Registry) => Promise<Result>): Promise<Answer<Result>> {
    const registry = this.#registry.peek();
    if (registry === null) return page.failed("signed_out");
    const answer = await answerOf(() => work(registry));
    if (answer.ok) return answer;
    const { kind } = answer.failure;
    if (kind === "signed_out" && this.#registry.peek() === registry) {
      const isToken = this.#signedInBy.peek() === "token";
      if (!isToken) this.provider?.forget();
      this.end({ reason: isToken ? "token" : "ended" });
    }
    if (kind === "forbidden") void this.#readOperator(registry);
    return answer;
  }

  /** Reads the operator's role and all services again. */
  async refresh(): Promise<void> {
    const { answer } = this.#catalog.peek();
    this.#catalog.value = { loading: true, answer, failure: null };
    const found = await this.ask(readCatalog);
    if (found.ok) return this.#show(found.value);
    // after sign-out no view shows the failure
    if (this.#registry.peek() === null) return;
    this.#catalog.value = { loading: false, answer, failure: found.failure };
  }

  /** Reads the role again. Ignores a failure, because the registry checks the role at every write. */
  async #readOperator(registry: Registry): Promise<void> {
    const operator = await readOperator(registry).catch(() => null);
    if (operator !== null && this.#registry.peek() === registry) this.#operator.value = operator;
  }

  #show([operator, { services, unreadable = {} }]: Awaited<ReturnType<typeof readCatalog>>): void {
    batch(() => {
      this.#operator.value = operator;
      this.#catalog.value = { loading: false, answer: services, failure: null };
      this.#unreadable.value = Object.keys(unreadable);
    });
  }
}

function readCatalog(registry: Registry) {
  return Promise.all([readOperator(registry), listServices(registry)]);
}

export const [SessionProvider, useSession] = requiredContext<Session>();

/** Returns the operator who is signed in, for views that require a sign-in. */
export function useOperator(): CurrentOperator {
  const operator = useSession().operator.value;
  if (operator === null) throw new Error("No operator is signed in.");
  return operator;
}

/** Runs requests to the registry on the first render, when `about` changes, and when `again` is called. */
export function useAsked<Result>(work: (registry: Registry) => Promise<Result>, about: string) {
  const session = useSession();
  return page.useAsked(() => session.ask(work), about);
}

/** Makes one change at a time. After a change, reads all services again. */
export function useWrite() {
  const session = useSession();
  const { busy, failure, write } = page.useWrite();
  return {
    busy,
    failure,
    write: <Result>(work: (registry: Registry) => Promise<Result>, done: (result: Result) => void) =>
      write(
        () => session.ask(work),
        (result) => {
          done(result);
          void session.refresh();
        },
      ),
  };
}
