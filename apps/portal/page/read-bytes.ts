/** Returns at most `bytes_max` bytes, and cancels the rest. `cut`: the body is longer, or the download failed. */
export async function readBytes(
  body: ReadableStream<Uint8Array> | null,
  bytes_max: number,
): Promise<{ bytes: Uint8Array; cut: boolean }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  let cut = false;
  const reader = body?.getReader();
  try {
    while (reader !== undefined && length <= bytes_max) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      length += value.length;
    }
    cut = length > bytes_max;
    // Does not wait, because the cancellation of a cloned answer ends only when the other clone is read.
    if (cut) void reader?.cancel().catch(() => {});
  } catch {
    cut = true;
  }
  const bytes = new Uint8Array(Math.min(length, bytes_max));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece.subarray(0, bytes.length - at), at);
    at += piece.length;
  }
  return { bytes, cut };
}
