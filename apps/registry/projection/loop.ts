/** How long to wait between two runs of a task. */
export interface LoopPauses {
  /** After a run that succeeded; {@link Loop.wake} cuts it short. */
  pause_ms: number;
  /** After a run that failed; doubled for each further failure in a row. */
  retry_ms: number;
}

const RETRY_GROWTH_MAX = 8;

/** Runs a task again and again, never twice at a time, until it is stopped. */
export class Loop {
  readonly #task: () => Promise<void>;
  readonly #pauses: LoopPauses;
  readonly #onFailure: (error: unknown, retry_in_ms: number) => void;
  #running: Promise<void> | undefined;
  #stopped = false;
  #woken = false;
  #interrupt: () => void = () => {};

  constructor(
    task: () => Promise<void>,
    pauses: LoopPauses,
    onFailure: (error: unknown, retry_in_ms: number) => void,
  ) {
    this.#task = task;
    this.#pauses = pauses;
    this.#onFailure = onFailure;
  }

  start(): void {
    this.#running ??= this.#run();
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

  async #run(): Promise<void> {
    let retry_ms = this.#pauses.retry_ms;
    while (!this.#stopped) {
      this.#woken = false;
      try {
        await this.#task();
        retry_ms = this.#pauses.retry_ms;
        await this.#pause(this.#pauses.pause_ms, () => this.#woken);
      } catch (error) {
        this.#onFailure(error, retry_ms);
        await this.#pause(retry_ms, () => false);
        retry_ms = Math.min(retry_ms * 2, this.#pauses.retry_ms * RETRY_GROWTH_MAX);
      }
    }
  }

  async #pause(pause_ms: number, isWoken: () => boolean): Promise<void> {
    if (this.#stopped || isWoken()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, pause_ms);
    this.#interrupt = () => {
      if (this.#stopped || isWoken()) resolve();
    };
    await promise;
    clearTimeout(timer);
    this.#interrupt = () => {};
  }
}
