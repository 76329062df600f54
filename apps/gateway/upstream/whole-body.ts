/** The maximum size of bodies that are read completely, so that they keep their Content-Length (GW-100). */
export const BUFFERED_BYTES_MAX = 65_536;

/** Returns a body if all of it has arrived, else null. Reads a clone, so that the body can still be read. */
export function arrivedBody(message: { clone(): { bytes(): Promise<Uint8Array> } }): Uint8Array | null {
  const bytes = message.clone().bytes();
  // For a rejected promise, `peek` would return the reason as if it were the value.
  if (Bun.peek.status(bytes) === "fulfilled") {
    const arrived = Bun.peek(bytes);
    return arrived instanceof Promise ? null : arrived;
  }
  // Ignore a failure, which the reader of the body itself gets too.
  bytes.catch(() => {});
  return null;
}

/** Returns a small body of `length` bytes, read with `next`. Returns null if the body has another length. */
export async function wholeBody(
  length: number,
  next: () => Promise<Uint8Array | undefined>,
): Promise<Uint8Array | null> {
  const bytes = new Uint8Array(length);
  for (let filled = 0; filled < length; ) {
    const chunk = await next();
    if (chunk === undefined || filled + chunk.byteLength > length) return null;
    bytes.set(chunk, filled);
    filled += chunk.byteLength;
  }
  return bytes;
}

/** Resolves in the next event-loop iteration, when bytes that arrived from the network are available. */
export function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
