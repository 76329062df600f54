/** Prints a line of progress on standard error. */
export type Say = (line: string) => void;

const EVERY_MS = 5_000;
const MIB = 1024 * 1024;

export function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}

/** Reports the progress of one file: a line every 5 s while data is copied, and one line at the end. */
export class Progress {
  readonly #say: Say;
  readonly #what: string;
  readonly #all: number | null;
  readonly #beganMs = performance.now();
  #saidMs = this.#beganMs;
  #bytes = 0;

  /** @param all the size of the file in bytes, or null if it is unknown */
  constructor(say: Say, what: string, all: number | null) {
    this.#say = say;
    this.#what = what;
    this.#all = all;
  }

  passed(bytes: number): void {
    this.#bytes += bytes;
    const nowMs = performance.now();
    if (nowMs - this.#saidMs < EVERY_MS) return;
    this.#saidMs = nowMs;
    const share = this.#all === null ? "" : ` of ${mebibytes(this.#all)}`;
    this.#say(`${this.#what}: ${mebibytes(this.#bytes)}${share}`);
  }

  end(): void {
    const tookS = ((performance.now() - this.#beganMs) / 1000).toFixed(1);
    this.#say(`${this.#what}: ${mebibytes(this.#bytes)} in ${tookS} s`);
  }
}
