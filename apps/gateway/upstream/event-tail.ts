const LF = 10;
const CR = 13;

/**
 * The number of bytes in a tail, which is the end of a stream. An empty line can end with CR and LF, and the
 * byte before them ends the previous line.
 */
const TAIL_BYTES = 3;
const TAIL_MASK = 0xff_ff_ff;
/** The tail of a new stream: an empty line, because a stream starts between two events. */
const BEGINNING = (LF << 8) | LF;

/**
 * Tracks whether a stream of server-sent events is between two events. The chunks can be split anywhere. A
 * line ends with LF, CR, or CR and LF, and an event ends with an empty line. The last three bytes of the
 * stream are enough to find an empty line.
 */
export class EventTail {
  #last = BEGINNING;

  passed(chunk: Uint8Array): void {
    const { length } = chunk;
    for (let index = Math.max(0, length - TAIL_BYTES); index < length; index++) this.#take(chunk[index]);
  }

  get between(): boolean {
    const last = this.#last & 0xff;
    const before = (this.#last >> 8) & 0xff;
    if (last === LF && before === CR) return endsLine(this.#last >> 16);
    return endsLine(last) && endsLine(before);
  }

  /** Returns the length of an unsent `chunk` up to the end of its last complete event, or 0. */
  wholeEventsIn(chunk: Uint8Array): number {
    const before = this.#last;
    let whole = 0;
    for (let index = 0; index < chunk.length; index++) {
      this.#take(chunk[index]);
      if (this.between) whole = index + 1;
    }
    this.#last = before;
    return whole;
  }

  #take(byte = 0): void {
    this.#last = ((this.#last << 8) | byte) & TAIL_MASK;
  }
}

function endsLine(byte: number): boolean {
  return byte === LF || byte === CR;
}
