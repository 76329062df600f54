import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { type View, viewAt } from "./address.ts";
import { listServices } from "./registry/calls.ts";
import { Registry } from "./registry/client.ts";
import { asFailure, type Failure } from "./registry/failure.ts";
import type { Services } from "./routes/rows.ts";

/** What was asked of the registry, with what it last answered while it is asked again or has failed. */
export interface Asked<Answer> {
  readonly loading: boolean;
  readonly answer: Answer | null;
  readonly failure: Failure | null;
}

const NOTHING: Asked<never> = { loading: true, answer: null, failure: null };

/** What the whole page shares, from its start to its end. The admin token is in here and nowhere else. */
export class Session {
  readonly #registry = signal<Registry | null>(null);
  readonly #catalog = signal<Asked<Services>>(NOTHING);
  readonly #ended = signal<string | null>(null);
  readonly #announcement = signal("");
  readonly view: Signal<View | null>;
  /** What stands in the form of apply, kept while somebody looks elsewhere or is asked for the token again. */
  readonly document = signal("");

  constructor(fragment: string) {
    this.view = signal(viewAt(fragment));
  }

  /** null: nobody gave the token yet. */
  get registry(): ReadonlySignal<Registry | null> {
    return this.#registry;
  }

  get catalog(): ReadonlySignal<Asked<Services>> {
    return this.#catalog;
  }

  /** Why the token was forgotten; null where nobody needs to be told. */
  get ended(): ReadonlySignal<string | null> {
    return this.#ended;
  }

  /** What a screen reader is told next. */
  get announcement(): ReadonlySignal<string> {
    return this.#announcement;
  }

  announce(text: string): void {
    this.#announcement.value = text;
  }

  /** Takes the token if the registry does; throws a {@link Failure}. */
  async enter(token: string): Promise<void> {
    const registry = new Registry(token);
    const { services } = await listServices(registry);
    batch(() => {
      this.#registry.value = registry;
      this.#catalog.value = { loading: false, answer: services, failure: null };
      this.#ended.value = null;
    });
  }

  /** Forgets the token and all that it brought. */
  leave(reason: string | null): void {
    batch(() => {
      this.#registry.value = null;
      this.#catalog.value = NOTHING;
      this.#ended.value = reason;
    });
  }

  /** Asks the registry; a token that it does not take any more is forgotten. */
  async ask<Answer>(work: (registry: Registry) => Promise<Answer>): Promise<Answer> {
    const registry = this.#registry.peek();
    if (registry === null) throw new Error("Nobody gave the admin token.");
    try {
      return await work(registry);
    } catch (thrown) {
      const failure = asFailure(thrown);
      if (failure.kind === "refused" && this.#registry.peek() === registry) {
        this.leave("The registry does not take the admin token any more. Give the one that it has now.");
      }
      throw failure;
    }
  }

  /** Reads all services again. */
  async refresh(): Promise<void> {
    const { answer } = this.#catalog.peek();
    this.#catalog.value = { loading: true, answer, failure: null };
    try {
      const { services } = await this.ask(listServices);
      this.#catalog.value = { loading: false, answer: services, failure: null };
    } catch (thrown) {
      // after leaving there is nothing to show a failure beside
      if (this.#registry.peek() === null) return;
      this.#catalog.value = { loading: false, answer, failure: asFailure(thrown) };
    }
  }
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("The page has a session.");
  return session;
}

/** Asks when it is first shown, when `about` changes, and when `again` is called. */
export function useAsked<Answer>(
  work: (registry: Registry) => Promise<Answer>,
  about: string,
): Asked<Answer> & { again: () => Promise<void> } {
  const session = useSession();
  const [asked, setAsked] = useState<Asked<Answer> & { about: string }>({ ...NOTHING, about });
  // an answer about something else than what is shown is dropped
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
