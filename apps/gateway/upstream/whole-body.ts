/** The size limit of bodies that are read whole, so that they keep their Content-Length (GW-100). */
export const BUFFERED_BYTES_MAX = 65_536;

interface Message {
  clone(): { bytes(): Promise<Uint8Array> };
}

/**
 * Returns a body if all of it has arrived, otherwise null. Reads a clone, so that the body itself can still
 * be read in chunks.
 */
export function arrivedBody(message: Message): Uint8Array | null {
  const bytes = message.clone().bytes();
  // `peek` would return the reason of a rejected promise as if it were the value
  if (Bun.peek.status(bytes) === "fulfilled") {
    const arrived = Bun.peek(bytes);
    return arrived instanceof Promise ? null : arrived;
  }
  // the reader of the body itself handles the failure
  bytes.catch(() => {});
  return null;
}

/**
 * Returns a small body that arrives in pieces: `length` bytes from `next`, or null if the body is shorter or
 * longer.
 */
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

/** Resolves in the next turn of the event loop, when bytes that arrived from the network are available. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
