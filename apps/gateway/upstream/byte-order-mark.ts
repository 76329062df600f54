import type { ByteSource } from "./upstream-client.ts";

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Removes the byte order mark at the start of a source. The gateway writes a comment line first, so the mark
 * would no longer start the stream. Event-stream parsers ignore a mark only at the start (HTML, "Parsing an
 * event stream").
 */
export class UnmarkedSource implements ByteSource {
  readonly #source: ByteSource;
  #hasBegun = false;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  next(): Promise<Uint8Array | undefined> {
    return this.#hasBegun ? this.#source.next() : this.#first();
  }

  cancel(): void {
    this.#source.cancel();
  }

  async #first(): Promise<Uint8Array | undefined> {
    let matched = 0;
    for (;;) {
      const chunk = await this.#source.next();
      let used = 0;
      while (chunk !== undefined && used < chunk.length && chunk[used] === BYTE_ORDER_MARK[matched]) {
        used += 1;
        matched += 1;
      }
      const isMark = matched === BYTE_ORDER_MARK.length;
      // The mark may be split between chunks.
      if (used === chunk?.length && !isMark) continue;
      this.#hasBegun = true;
      const rest = chunk?.subarray(used);
      if (isMark) return rest?.length === 0 ? this.#source.next() : rest;
      return joined(BYTE_ORDER_MARK.slice(0, matched), rest);
    }
  }
}

/** Returns held bytes that turned out not to be a mark, followed by the rest of the chunk. */
function joined(held: readonly number[], rest: Uint8Array | undefined): Uint8Array | undefined {
  if (held.length === 0) return rest;
  return Uint8Array.from([...held, ...(rest ?? [])]);
}
