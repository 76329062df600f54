/**
 * Returns at most the first `bytesMax` bytes of a body, and cancels the rest. `cut` is true if the body is
 * longer or the download failed.
 */
export async function readBytes(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  bytesMax: number,
): Promise<{ bytes: Uint8Array; cut: boolean }> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  let cut = false;
  const reader = body?.getReader();
  try {
    while (reader !== undefined && length <= bytesMax) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      length += value.length;
    }
    cut = length > bytesMax;
    // Do not wait: the body of a cloned response is canceled only when the other clone is read or canceled.
    if (cut) void reader?.cancel().catch(() => {});
  } catch {
    cut = true;
  }
  const bytes = await new Blob(pieces).slice(0, bytesMax).arrayBuffer();
  return { bytes: new Uint8Array(bytes), cut };
}
