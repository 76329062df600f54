import { ConnectionLost, isConnectionLost } from "./failure.ts";

/**
 * Watches over the statements of one unit of work: runs a timer while some are under way, none while the work
 * itself thinks. Once the connection was lost, or the work ended, no further statement is let through.
 */
export class Watchdog {
  /** Rejects with `ConnectionLost` when a statement stays unanswered for `silence_ms`. */
  readonly silence: Promise<never>;
  readonly #silence_ms: number;
  readonly #bark: (error: ConnectionLost) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #statements = 0;
  #ended = false;
  #lost = false;

  constructor(silence_ms: number) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.silence = promise;
    this.#silence_ms = silence_ms;
    this.#bark = reject;
  }

  /** Whether the connection can no longer be trusted. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Announces that the server is asked something; call the result when it answered. Throws when the work has ended. */
  ask(): () => void {
    if (this.#lost) throw new ConnectionLost("The connection was lost before this statement.");
    if (this.#ended) throw new Error("A statement was sent after its unit of work had ended.");
    this.#statements += 1;
    this.#restart();
    let answered = false;
    return () => {
      if (answered) return;
      answered = true;
      this.#statements -= 1;
      this.#restart();
    };
  }

  /** Follows a statement of the driver until it is answered. */
  follow<Statement extends PromiseLike<unknown>>(send: () => Statement): Statement {
    const answered = this.ask();
    const statement = send();
    statement.then(answered, (error) => {
      if (isConnectionLost(error)) this.lose();
      answered();
    });
    return statement;
  }

  lose(): void {
    this.#lost = true;
    this.end();
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #restart(): void {
    clearTimeout(this.#timer);
    if (this.#ended || this.#statements === 0) return;
    this.#timer = setTimeout(() => {
      this.lose();
      this.#bark(new ConnectionLost(`The server did not answer within ${this.#silence_ms} ms.`));
    }, this.#silence_ms);
  }
}
