import type {
  ConsoleSettings,
  CurrentOperator,
  RecordedChange,
  Services,
} from "@ostiary/lib/contracts/registry-api";
import * as page from "@ostiary/lib/page";
import { keepInTab, type Result, requiredContext, type SignedOut, takeFromTab } from "@ostiary/lib/page";
import { signal } from "@preact/signals";
import { Type } from "@sinclair/typebox";
import { useState } from "preact/hooks";
import { type View, viewAt } from "./console-address.ts";
import { cursorOf, listServices, readOperator } from "./registry/calls.ts";
import { FailedCall, messageOf, Registry, resultOf } from "./registry/console-registry.ts";

const PAGE_PATH = "/console";
/** The storage key of the text in the apply form, which survives the redirect to the identity provider. */
const DOCUMENT = "ostiary.console.document";

/** The code of the failure when the identity provider does not respond, so that there is no token. */
export const PROVIDER_UNAVAILABLE = "PROVIDER_UNAVAILABLE";

/** The state that the whole page shares. A token that an operator entered is kept in {@link Registry} only. */
export class Session extends page.PageSession<View | null> {
  readonly #registry = signal<Registry | null>(null);
  readonly signedInBy = signal<"token" | "provider">("token");
  /** The operator who is signed in, as the registry last reported. Null before sign-in. */
  readonly operator = signal<CurrentOperator | null>(null);
  /** The text in the apply form. The text is kept when the view changes, and when a session has expired. */
  readonly document = signal("");

  constructor(settings: ConsoleSettings["sign_in"]) {
    super(settings === null ? [] : [settings], PAGE_PATH, viewAt);
  }

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
    const opened = await this.#openAs(
      "provider",
      () => new Registry((refused) => tokenOf(provider, refused)),
    );
    if (opened.ok) return null;
    const { failure } = opened;
    return failure.kind === "signed_out"
      ? { reason: "unknown" }
      : { reason: "failed", detail: messageOf(failure) };
  }

  /** Signs in with the token of an operator. Fails if the registry refuses the token or does not respond. */
  enter(token: string): Promise<Result<void>> {
    this.end(null);
    return this.#openAs("token", () => new Registry(token));
  }

  #openAs(way: "token" | "provider", clientOf: () => Registry): Promise<Result<void>> {
    return resultOf(async () => {
      const registry = clientOf();
      const operator = await readOperator(registry);
      this.begin(() => {
        this.#registry.value = registry;
        this.signedInBy.value = way;
        this.operator.value = operator;
      });
    });
  }

  /**
   * Forgets the token, and the text in the apply form. After a sign-in at the identity provider, ends the provider's
   * session too.
   */
  async leave(): Promise<void> {
    this.document.value = "";
    if (this.signedInBy.peek() === "provider") await this.signOut();
    else this.end(null);
  }

  protected forget(): void {
    this.#registry.value = null;
    this.operator.value = null;
  }

  /** Runs requests. Signs out if the token is no longer accepted, and after a 403 reads the role again (RG-133). */
  async run<Value>(work: (registry: Registry) => Promise<Value>): Promise<Result<Value>> {
    const registry = this.#registry.peek();
    if (registry === null) return page.failed("signed_out");
    const result = await resultOf(() => work(registry));
    if (result.ok) return result;
    const { kind } = result.failure;
    if (kind === "signed_out" && this.#registry.peek() === registry) {
      const isToken = this.signedInBy.peek() === "token";
      if (!isToken) this.provider?.forget();
      this.end({ reason: isToken ? "token" : "ended" });
    }
    // A failure does not matter, because the registry checks the role at every write.
    if (kind === "forbidden") void resultOf(() => this.#readRole(registry));
    return result;
  }

  /** Reads all services, and the role of the operator again (RG-133). */
  async readServices(registry: Registry): Promise<Services> {
    const [services] = await Promise.all([listServices(registry), this.#readRole(registry)]);
    return services;
  }

  async #readRole(registry: Registry): Promise<void> {
    const operator = await readOperator(registry);
    if (this.#registry.peek() === registry) this.operator.value = operator;
  }
}

async function tokenOf(provider: page.ProviderSession, refused: boolean): Promise<string> {
  const found = await provider.currentToken(refused);
  if (found.ok) return found.token;
  if (found.reason === "over") throw new FailedCall("signed_out", { message: "The sign-in has ended." });
  const message = "The identity provider does not respond. Try again in a moment.";
  throw new FailedCall("unavailable", { code: PROVIDER_UNAVAILABLE, message });
}

export const [SessionProvider, useSession] = requiredContext<Session>();

/** Returns the operator who is signed in, for views that require a sign-in. */
export function useOperator(): CurrentOperator {
  const operator = useSession().operator.value;
  if (operator === null) throw new Error("No operator is signed in.");
  return operator;
}

/** Runs requests to the registry on the first render, when `about` changes, and when `reload` is called. */
export function useRequest<Value>(work: (registry: Registry) => Promise<Value>, about: string) {
  const session = useSession();
  return page.useRequest(() => session.run(work), about);
}

/** Reads the changes of the registry page by page. `work` returns the page after the change `last`. */
export function useChanges(
  work: (registry: Registry, last: RecordedChange | undefined) => Promise<page.ListPage<RecordedChange>>,
  about: string,
) {
  const session = useSession();
  return page.usePages((last) => session.run((registry) => work(registry, last)), cursorOf, about);
}

/** Runs a request to the registry when `submit` is called, and keeps its input with its result. */
export function useSubmit<Input, Value>(work: (registry: Registry, input: Input) => Promise<Value>) {
  const session = useSession();
  const [busy, setBusy] = useState(false);
  const [last, setLast] = useState<{ input: Input; result: Result<Value> } | null>(null);
  const submit = async (input: Input) => {
    setBusy(true);
    setLast({ input, result: await session.run((registry) => work(registry, input)) });
    setBusy(false);
  };
  return { busy, last, submit };
}
