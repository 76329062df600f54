const LF = 10;
const CR = 13;

/** Three bytes: an empty line may be ended by CR and LF, and what stands before these ends the line before it. */
const TAIL_BYTES = 3;
const TAIL_MASK = 0xff_ff_ff;
/** A stream begins between two events, as after an empty line. */
const BEGINNING = (LF << 8) | LF;

/**
 * Knows whether a stream of server-sent events stands between two events, whatever chunks it comes in. Lines end
 * with LF, CR, or CR and LF; an event ends with an empty line. It keeps three bytes and looks at no others, until
 * it is asked where a chunk can be cut.
 */
export class EventTail {
  #last = BEGINNING;

  /** `chunk` was sent. */
  passed(chunk: Uint8Array): void {
    const { length } = chunk;
    for (let index = Math.max(0, length - TAIL_BYTES); index < length; index++) this.#take(chunk[index]);
  }

  /** Whether what was sent ends with an empty line. */
  get between(): boolean {
    const last = this.#last & 0xff;
    const before = (this.#last >> 8) & 0xff;
    if (last === LF && before === CR) return endsLine(this.#last >> 16);
    return endsLine(last) && endsLine(before);
  }

  /** How many bytes of `chunk`, which is not passed yet, end with an event; 0 when it ends none. */
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
