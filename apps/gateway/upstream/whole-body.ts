/** Bodies of known length up to this are read whole, so that they keep their length (contract 4, Headers). */
export const BUFFERED_BYTES_MAX = 65_536;

interface Message {
  clone(): { bytes(): Promise<Uint8Array>; blob(): Promise<Blob> };
}

/**
 * A small body that is here, as most are when they are asked for; null while a part of it is missing, or when it
 * broke off. Asked of a copy, so that the rest can still be waited for chunk by chunk.
 */
export function arrivedBody(message: Message): Uint8Array | null {
  const bytes = message.clone().bytes();
  // a failed promise would give its reason, as if that were the value
  if (Bun.peek.status(bytes) === "fulfilled") {
    const arrived = Bun.peek(bytes);
    return arrived instanceof Promise ? null : arrived;
  }
  // it fails with the body itself, which is where that is dealt with
  bytes.catch(() => {});
  return null;
}

/** Whether all of a small body is here. It stays to be read, or to be passed on with its message. */
export function hasArrived(message: Message): boolean {
  const blob = message.clone().blob();
  if (Bun.peek.status(blob) === "fulfilled") return true;
  blob.catch(() => {}); // as above
  return false;
}

/** A small body that comes in pieces: `length` bytes of what `next` gives; null when it ends before or goes on. */
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

/** Resolves in the next turn of the event loop: what has come by the network meanwhile is known then. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
