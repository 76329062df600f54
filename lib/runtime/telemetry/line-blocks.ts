import type pino from "pino";

const FLUSH_INTERVAL_MS = 200;
const BLOCK_LENGTH = 32_768;

type Destination = ReturnType<typeof pino.destination>;

/**
 * Gathers log lines and hands them on by the block, or every 200 ms. The destination measures all that it holds
 * anew with each write, and each of its own writes wakes a thread: line by line that costs more than the line.
 */
export class LineBlocks {
  readonly #destination: Destination;
  #block = "";

  /** @param atOnce the same file, for what is left when the process ends: a write of a thread would be cut off */
  constructor(destination: Destination, atOnce: Destination) {
    this.#destination = destination;
    setInterval(() => this.handOn(), FLUSH_INTERVAL_MS).unref();
    // called when the process ends without a word
    const flushSync = destination.flushSync.bind(destination);
    destination.flushSync = () => {
      flushSync();
      if (this.#block !== "") atOnce.write(this.#take());
    };
  }

  write(line: string): void {
    this.#block += line;
    if (this.#block.length >= BLOCK_LENGTH) this.handOn();
  }

  handOn(): void {
    if (this.#block !== "") this.#destination.write(this.#take());
  }

  #take(): string {
    const block = this.#block;
    this.#block = "";
    return block;
  }
}
