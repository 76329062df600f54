/** Tests that a byte order mark at the start of a stream is removed, even if it is split between chunks. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { UnmarkedSource } from "../../../apps/gateway/upstream/byte-order-mark.ts";

const MARK = [0xef, 0xbb, 0xbf];

function sourceOf(chunks: readonly number[][]) {
  let at = 0;
  return {
    next: async () => {
      const chunk = chunks[at];
      at += 1;
      return chunk && Uint8Array.from(chunk);
    },
    cancel() {},
  };
}

async function read(chunks: readonly number[][]): Promise<number[]> {
  const source = new UnmarkedSource(sourceOf(chunks));
  const bytes: number[] = [];
  for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
    bytes.push(...chunk);
  }
  return bytes;
}

describe("the first bytes of a stream", () => {
  test("lose one byte order mark and nothing else, in any chunks", async () => {
    const byte = fc.constantFrom(...MARK, 0x3a, 0x0a);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(byte, { maxLength: 4 }), { maxLength: 6 }), async (chunks) => {
        const all = chunks.flat();
        const isMarked = MARK.every((each, index) => all[index] === each);
        expect(await read(chunks)).toEqual(isMarked ? all.slice(MARK.length) : all);
      }),
    );
  });
});
