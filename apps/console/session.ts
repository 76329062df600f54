import type { CurrentOperator } from "@ostiary/lib/contracts/registry-api";
import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { type View, viewAt } from "./address.ts";
import { listServices, readOperator } from "./registry/calls.ts";
import { Registry } from "./registry/client.ts";
import { asFailure, type Failure } from "./registry/failure.ts";
import type { Services } from "./routes/rows.ts";

/**
 * A question to the registry and its state. The last answer stays while the next is in flight or has failed.
 */
export interface Asked<Answer> {
  readonly loading: boolean;
  readonly answer: Answer | null;
  readonly failure: Failure | null;
}

const NOTHING: Asked<never> = { loading: true, answer: null, failure: null };

/**
 * The state that the whole page shares. It holds the token in memory only, in its client of the registry.
 */
export class Session {
  readonly #registry = signal<Registry | null>(null);
  readonly #operator = signal<CurrentOperator | null>(null);
  readonly #catalog = signal<Asked<Services>>(NOTHING);
  readonly #unreadable = signal<readonly string[]>([]);
  readonly #ended = signal<string | null>(null);
  readonly #announcement = signal("");
  readonly view: Signal<View | null>;
  /** The text in the form of apply. It survives a change of the view and a new sign-in. */
  readonly document = signal("");

  constructor(fragment: string) {
    this.view = signal(viewAt(fragment));
  }

  /** The client of the registry, or null before sign-in. */
  get registry(): ReadonlySignal<Registry | null> {
    return this.#registry;
  }

  /** The operator who is signed in, as the registry last said. */
  get operator(): ReadonlySignal<CurrentOperator | null> {
    return this.#operator;
  }

  get catalog(): ReadonlySignal<Asked<Services>> {
    return this.#catalog;
  }

  /** Names of the services that the registry cannot read, because another version wrote them. */
  get unreadable(): ReadonlySignal<readonly string[]> {
    return this.#unreadable;
  }

  /** The reason why the token was forgotten, to show at sign-in, or null if there is none. */
  get ended(): ReadonlySignal<string | null> {
    return this.#ended;
  }

  /** The text that a screen reader announces next. */
  get announcement(): ReadonlySignal<string> {
    return this.#announcement;
  }

  announce(text: string): void {
    this.#announcement.value = text;
  }

  /**
   * Signs in with the token.
   *
   * @throws Failure when the registry does not accept the token
   */
  async enter(token: string): Promise<void> {
    const registry = new Registry(token);
    const [operator, found] = await Promise.all([readOperator(registry), listServices(registry)]);
    batch(() => {
      this.#registry.value = registry;
      this.#operator.value = operator;
      this.#show(found);
      this.#ended.value = null;
    });
  }

  /** Forgets the token and everything that was read with it. */
  leave(reason: string | null): void {
    batch(() => {
      this.#registry.value = null;
      this.#operator.value = null;
      this.#catalog.value = NOTHING;
      this.#unreadable.value = [];
      this.#ended.value = reason;
    });
  }

  /**
   * Asks the registry. Forgets the token when the registry no longer accepts it. After a 403 it reads the role
   * again, which may have changed (RG-133).
   */
  async ask<Answer>(work: (registry: Registry) => Promise<Answer>): Promise<Answer> {
    const registry = this.#registry.peek();
    if (registry === null) throw new Error("Nobody is signed in.");
    try {
      return await work(registry);
    } catch (thrown) {
      const failure = asFailure(thrown);
      if (failure.kind === "refused" && this.#registry.peek() === registry) {
        this.leave("The registry no longer accepts the token. Enter the current one.");
      }
      if (failure.kind === "forbidden") void this.#readOperator(registry);
      throw failure;
    }
  }

  /** Reads all services again. */
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

  /** Reads the role again. A failure changes nothing: the registry checks every write. */
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
  if (session === null) throw new Error("The page has a session.");
  return session;
}

/** Returns the operator who is signed in, for the views that only they see. */
export function useOperator(): CurrentOperator {
  const operator = useSession().operator.value;
  if (operator === null) throw new Error("An operator is signed in.");
  return operator;
}

/** Asks the registry on the first render, when `about` changes, and when `again` is called. */
export function useAsked<Answer>(
  work: (registry: Registry) => Promise<Answer>,
  about: string,
): Asked<Answer> & { again: () => Promise<void> } {
  const session = useSession();
  const [asked, setAsked] = useState<Asked<Answer> & { about: string }>({ ...NOTHING, about });
  // the number of the latest question: answers to earlier ones are dropped
  const [latest] = useState({ question: 0 });

  const again = async () => {
    const question = ++latest.question;
    const show = (shown: Asked<Answer>) => {
      if (question === latest.question) setAsked({ ...shown, about });
    };
    const answer = asked.about === about ? asked.answer : null;
    show({ loading: true, answer, failure: null });
    try {
      show({ loading: false, answer: await session.ask(work), failure: null });
    } catch (thrown) {
      show({ loading: false, answer, failure: asFailure(thrown) });
    }
  };
  useEffect(() => {
    void again();
    return () => {
      latest.question++;
    };
  }, [about]);
  const shown = asked.about === about ? asked : NOTHING;
  return { loading: shown.loading, answer: shown.answer, failure: shown.failure, again };
}
