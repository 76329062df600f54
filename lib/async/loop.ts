import { type Clock, systemClock } from "./clock.ts";

export interface LoopOptions {
  /** One run. `stopping` tells a long one to end early. */
  task: (stopping: () => boolean) => Promise<void>;
  /** How long to wait after a run that succeeded; {@link Loop.wake} cuts it short. Until then when omitted. */
  pause_ms?: number;
  /** How long to wait after a run that succeeded in any case; 0 when omitted. */
  gap_ms?: number;
  /** How long to wait after a run that failed; doubled for each further failure in a row, up to eight times. */
  retry_ms: number;
  onFailure: (error: unknown, retry_in_ms: number) => void;
  clock?: Clock;
}

const RETRY_GROWTH_MAX = 8;

/** Runs a task again and again in the background, never twice at a time, until it is stopped. */
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

  /** Begins, with a run at once or `delay_ms` from now. */
  start(delay_ms = 0): void {
    this.#running ??= this.#run(delay_ms);
  }

  /** There is something to do: run at once, or again when a run is under way. A failed task keeps its pause. */
  wake(): void {
    this.#woken = true;
    this.#interrupt();
  }

  /** Resolves when the run under way has ended. */
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
