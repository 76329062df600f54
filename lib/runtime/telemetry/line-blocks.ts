import pino from "pino";
import { endsWithin } from "../../async/index.ts";

const FLUSH_INTERVAL_MS = 200;
const BLOCK_LENGTH = 32_768;
/** What waits for a reader that is slow; more is dropped. */
const WAITING_LENGTH_MAX = 16 * 1024 * 1024;
/** How long the end of a process waits for a reader. */
const FLUSH_TIMEOUT_MS = 2_000;

/**
 * Gathers log lines and hands them on by the block, or every 200 ms. The destination measures all that it holds
 * anew with each write, and each of its own writes wakes a thread: line by line that costs more than the line.
 *
 * A reader that does not read holds up nobody: lines that find no room are dropped and counted.
 */
export class LineBlocks {
  /** Lines that were dropped. */
  dropped = 0;
  readonly #destination: ReturnType<typeof pino.destination>;
  #block = "";
  /** Something that was handed on is not written yet. */
  #isWriting = false;
  #isStuck = false;

  /** @param onReading told how many lines were dropped once they are read again */
  constructor(dest: number, onReading: (dropped: number) => void) {
    const destination = pino.destination({ dest, sync: false, maxLength: WAITING_LENGTH_MAX });
    this.#destination = destination;
    setInterval(() => this.handOn(), FLUSH_INTERVAL_MS).unref();
    let untold = 0;
    destination.on("drop", (block: string) => {
      const lines = block.split("\n").length - 1;
      this.dropped += lines;
      untold += lines;
    });
    destination.on("drain", () => {
      this.#isWriting = false;
      if (untold === 0) return;
      const lines = untold;
      untold = 0;
      onReading(lines);
    });
    // a file system that is full, a pipe that was closed: lines are lost, requests are not
    destination.on("error", () => {});
    // called when the process ends without a word; what is left would be cut off if a thread wrote it
    const atOnce = pino.destination({ dest, sync: true });
    const flushSync = destination.flushSync.bind(destination);
    destination.flushSync = () => {
      if (this.#isStuck) return;
      flushSync();
      if (this.#block !== "") atOnce.write(this.#take());
    };
  }

  write(line: string): void {
    this.#block += line;
    if (this.#block.length >= BLOCK_LENGTH) this.handOn();
  }

  handOn(): void {
    if (this.#block === "") return;
    this.#isWriting = true;
    this.#destination.write(this.#take());
  }

  /** Resolves when all is written, or when nobody reads it. */
  async flush(): Promise<void> {
    this.handOn();
    if (this.#isWriting) {
      const written = new Promise<void>((resolve) => this.#destination.once("drain", () => resolve()));
      this.#isStuck = !(await endsWithin(written, FLUSH_TIMEOUT_MS));
    }
    // lines may have come meanwhile
    this.#destination.flushSync();
  }

  #take(): string {
    const block = this.#block;
    this.#block = "";
    return block;
  }
}
