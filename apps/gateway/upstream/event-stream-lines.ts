/** The lines that the gateway adds to streams of server-sent events. */
const encoder = new TextEncoder();

/** The comment line that opens a stream, so that its head is sent immediately (GW-112). */
export const OPENING_COMMENT = encoder.encode(":\n");

/** The delay after which clients reconnect, random so that clients do not all reconnect at the same time. */
const RETRY_MS_MIN = 500;
const RETRY_MS_SPREAD = 2_000;

/** Returns the field that tells a client when to reconnect to another gateway (GW-159). */
export function retryField(): Uint8Array<ArrayBuffer> {
  const retryMs = Math.round(RETRY_MS_MIN + Math.random() * RETRY_MS_SPREAD);
  return encoder.encode(`retry: ${retryMs}\n\n`);
}
