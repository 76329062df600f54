import { Silence } from "./failure.ts";

/**
 * Watches over one unit of work: runs a timer while statements are under way, none while the work itself
 * thinks. Once it barked, or the work ended, no further statement is let through.
 */
export class Watchdog {
  /** Rejects with `Silence` when a statement stays unanswered for `silence_ms`. */
  readonly silence: Promise<never>;
  readonly #silence_ms: number;
  readonly #bark: (error: Silence) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #statements = 0;
  #ended = false;

  constructor(silence_ms: number) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.silence = promise;
    this.#silence_ms = silence_ms;
    this.#bark = reject;
  }

  /** Announces a statement; call the result when it was answered. Throws when the work has ended. */
  statement(): () => void {
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

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #restart(): void {
    clearTimeout(this.#timer);
    if (this.#ended || this.#statements === 0) return;
    this.#timer = setTimeout(() => {
      this.#ended = true;
      this.#bark(new Silence(this.#silence_ms));
    }, this.#silence_ms);
  }
}
