/** Reads all `chunks`. Throws the error of `tooLarge` if they have more than `bytesMax` bytes. */
export async function readBounded(
  chunks: AsyncIterable<Uint8Array> | null,
  bytesMax: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const read: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks ?? []) {
    size += chunk.byteLength;
    if (size > bytesMax) throw tooLarge();
    read.push(chunk);
  }
  return Buffer.concat(read);
}
