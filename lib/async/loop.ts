import { type Clock, systemClock } from "./clock.ts";

interface LoopOptions {
  /** Does one run of the task. A long run ends early when `stopping` returns true. */
  task: (stopping: () => boolean) => Promise<void>;
  /**
   * The pause after a run that succeeded. {@link Loop.wake} ends it early. Without a value, only a wake ends
   * it.
   */
  pause_ms?: number;
  /** The shortest pause after a successful run; 0 by default. A wake does not end this pause. */
  gap_ms?: number;
  /**
   * The pause after a run that failed. It doubles with each failure in a row, up to eight times this value.
   */
  retry_ms: number;
  onFailure: (error: unknown, retry_in_ms: number) => void;
  clock?: Clock;
}

const RETRY_GROWTH_MAX = 8;

/** Repeats a task in the background until {@link Loop.stop}. Runs never overlap. */
export class Loop {
  readonly #options: LoopOptions;
  readonly #clock: Clock;
  #running: Promise<void> | undefined;
  #stopped = false;
  #woken = false;
  #interrupt: () => void = () => {};

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Starts the loop, with a run at once or after `delay_ms`. */
  start(delay_ms = 0): void {
    this.#running ??= this.#run(delay_ms);
  }

  /**
   * Requests a run at once, or another run after the one in progress. A backoff after a failure still takes
   * its full time.
   */
  wake(): void {
    this.#woken = true;
    this.#interrupt();
  }

  /** Stops the loop. Resolves when the run in progress has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#interrupt();
    await this.#running;
  }

  async #run(delay_ms: number): Promise<void> {
    const { task, pause_ms, gap_ms = 0, retry_ms, onFailure } = this.#options;
    if (delay_ms > 0) await this.#pause(delay_ms, () => this.#woken);
    let retry_in_ms = retry_ms;
    while (!this.#stopped) {
      this.#woken = false;
      try {
        await task(() => this.#stopped);
        retry_in_ms = retry_ms;
        if (gap_ms > 0) await this.#pause(gap_ms, () => false);
        await this.#pause(pause_ms, () => this.#woken);
      } catch (error) {
        onFailure(error, retry_in_ms);
        await this.#pause(retry_in_ms, () => false);
        retry_in_ms = Math.min(retry_in_ms * 2, retry_ms * RETRY_GROWTH_MAX);
      }
    }
  }

  async #pause(pause_ms: number | undefined, isWoken: () => boolean): Promise<void> {
    if (this.#stopped || isWoken()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = pause_ms === undefined ? () => {} : this.#clock.after(pause_ms, resolve);
    this.#interrupt = () => {
      if (this.#stopped || isWoken()) resolve();
    };
    await promise;
    cancel();
    this.#interrupt = () => {};
  }
}
