import pino from "pino";
import { endsWithin } from "../../async/index.ts";

const FLUSH_INTERVAL_MS = 200;
const BLOCK_LENGTH = 32_768;
/** The maximum amount of log text that waits for a slow reader. The process drops further lines. */
const WAITING_LENGTH_MAX = 16 * 1024 * 1024;
/** The longest wait for a reader when the process ends. */
const FLUSH_TIMEOUT_MS = 2_000;

/**
 * Collects log lines and writes them in blocks, at least every 200 ms. Each write makes the destination
 * measure its whole buffer and wakes a thread, which costs more than formatting a line.
 *
 * A reader that stops reading does not block the process: lines beyond the buffer are dropped and counted.
 */
export class LineBlocks {
  /** The number of dropped lines. */
  dropped = 0;
  readonly #destination: ReturnType<typeof pino.destination>;
  #block = "";
  /** True while a block is not written yet. */
  #isWriting = false;
  #isStuck = false;

  /** @param onReading receives the number of dropped lines once the destination accepts lines again */
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
    // On a full file system or a closed pipe, lines are lost but requests are not.
    destination.on("error", () => {});
    // pino calls this when the process ends without a flush. A thread could not finish writing the rest.
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

  /** Resolves when all lines are written, or when the reader is too slow. */
  async flush(): Promise<void> {
    this.handOn();
    if (this.#isWriting) {
      const written = new Promise<void>((resolve) => this.#destination.once("drain", () => resolve()));
      this.#isStuck = !(await endsWithin(written, FLUSH_TIMEOUT_MS));
    }
    // Lines may have arrived during the wait.
    this.#destination.flushSync();
  }

  #take(): string {
    const block = this.#block;
    this.#block = "";
    return block;
  }
}
