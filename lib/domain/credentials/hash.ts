/**
 * SHA-256 of a credential string, in hex: what is stored, looked up and used as a cache key in place of the
 * string itself (Identity specification, API key).
 */
export function hashCredential(text: string): string {
  return Bun.SHA256.hash(text, "hex");
}
