/**
 * Returns the SHA-256 of a credential string in hex. The hash is stored, looked up and used as a cache key
 * instead of the string (ID-81).
 */
export function hashCredential(text: string): string {
  return Bun.SHA256.hash(text, "hex");
}
