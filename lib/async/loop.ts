import { type Clock, systemClock } from "./clock.ts";

interface LoopOptions {
  /** Does one run of the task. A long run must end early when `stopping` returns true. */
  task: (stopping: () => boolean) => Promise<void>;
  /**
   * The pause after a successful run. It begins after `gap_ms`, and {@link Loop.wake} ends it early. If
   * `pause_ms` is undefined, the loop pauses until it is woken.
   */
  pause_ms?: number;
  /** The pause after a successful run that {@link Loop.wake} cannot shorten; 0 by default. */
  gap_ms?: number;
  /** The pause after a failed run. It doubles with each consecutive failure, up to eight times this value. */
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

  /** Starts the loop. The first run begins after `delay_ms`, or when {@link wake} is called. */
  start(delay_ms = 0): void {
    this.#running ??= this.#run(delay_ms);
  }

  /**
   * Ends the current pause, or the pause after the run in progress, so that the next run begins. Does not
   * shorten `gap_ms` or the backoff after a failure.
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
