/** Bodies of known length up to this are read whole, so that they keep their length (contract 4, Headers). */
export const BUFFERED_BYTES_MAX = 65_536;

/** The value of a promise that has it already; null for one that is pending or has failed, which is to be awaited. */
export function settledValue<Value extends object>(promise: Promise<Value>): Value | null {
  // a failed promise would give its reason, as if that were the value
  if (Bun.peek.status(promise) !== "fulfilled") return null;
  const value = Bun.peek(promise);
  return value instanceof Promise ? null : value;
}

interface Message {
  clone(): { bytes(): Promise<Uint8Array> };
}

/**
 * A small body that is here, as most are when they are asked for; null while a part of it is missing, or when it
 * broke off. Asked of a copy, so that the rest can still be waited for chunk by chunk.
 */
export function arrivedBody(message: Message): Uint8Array | null {
  const bytes = message.clone().bytes();
  const arrived = settledValue(bytes);
  // it fails with the body itself, which is where that is dealt with
  if (arrived === null) bytes.catch(() => {});
  return arrived;
}

/** A small body that comes in pieces: `length` bytes of what `next` gives; null when it ends before or goes on. */
export async function wholeBody(
  length: number,
  next: () => Uint8Array | undefined | Promise<Uint8Array | undefined>,
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
