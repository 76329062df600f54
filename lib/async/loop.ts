import { type Clock, systemClock } from "./clock.ts";

interface LoopOptions {
  /** Does one run of the task. A long run must end early when `stopping` returns true. */
  task: (stopping: () => boolean) => Promise<void>;
  /** The pause after a successful run, which {@link Loop.wake} ends. Undefined waits for {@link Loop.wake}. */
  pauseMs?: number;
  /** The pause after a successful run that {@link Loop.wake} cannot shorten; 0 by default. */
  gapMs?: number;
  /** The pause after a failed run, doubled after each consecutive failure, up to eight times this value. */
  retryMs: number;
  onFailure: (error: unknown, retryInMs: number) => void;
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

  /** Starts the loop. The first run begins after `delayMs`, or when {@link wake} is called. */
  start(delayMs = 0): void {
    this.#running ??= this.#run(delayMs);
  }

  /** Ends the current pause, or the one after the run in progress. Does not shorten `gapMs` or a backoff. */
  wake(): void {
    this.#woken = true;
    this.#interrupt();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#interrupt();
    await this.#running;
  }

  async #run(delayMs: number): Promise<void> {
    const { task, pauseMs, gapMs = 0, retryMs, onFailure } = this.#options;
    if (delayMs > 0) await this.#pause(delayMs, () => this.#woken);
    let retryInMs = retryMs;
    while (!this.#stopped) {
      this.#woken = false;
      try {
        await task(() => this.#stopped);
        retryInMs = retryMs;
        if (gapMs > 0) await this.#pause(gapMs, () => false);
        await this.#pause(pauseMs, () => this.#woken);
      } catch (error) {
        onFailure(error, retryInMs);
        await this.#pause(retryInMs, () => false);
        retryInMs = Math.min(retryInMs * 2, retryMs * RETRY_GROWTH_MAX);
      }
    }
  }

  async #pause(pauseMs: number | undefined, isWoken: () => boolean): Promise<void> {
    if (this.#stopped || isWoken()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = pauseMs === undefined ? () => {} : this.#clock.after(pauseMs, resolve);
    this.#interrupt = () => {
      if (this.#stopped || isWoken()) resolve();
    };
    await promise;
    cancel();
    this.#interrupt = () => {};
  }
}
