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

  constructor(destination: Destination) {
    this.#destination = destination;
    setInterval(() => this.handOn(), FLUSH_INTERVAL_MS).unref();
    // called when the process ends without a word: what is still here goes first
    const flushSync = destination.flushSync.bind(destination);
    destination.flushSync = () => {
      this.handOn();
      flushSync();
    };
  }

  write(line: string): void {
    this.#block += line;
    if (this.#block.length >= BLOCK_LENGTH) this.handOn();
  }

  handOn(): void {
    if (this.#block === "") return;
    const block = this.#block;
    this.#block = "";
    this.#destination.write(block);
  }
}
