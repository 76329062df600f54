/** A body that clients may keep, and ask whether it is still right (RFC 9110, 13.1.2). */
export interface Representation {
  readonly body: string | Uint8Array<ArrayBuffer> | Bun.BunFile;
  readonly type: string;
  /** A strong entity tag: other bytes have another one. */
  readonly etag: string;
}

/** To be asked about each time it is used. */
export const REVALIDATE = "no-cache";
/** For an address that names the content itself: never to be asked about again. */
export const IMMUTABLE = "public, max-age=31536000, immutable";

export async function representationOf(body: string | Bun.BunFile, type: string): Promise<Representation> {
  const bytes = typeof body === "string" ? body : await body.bytes();
  return { body, type, etag: entityTag(new Bun.CryptoHasher("sha256").update(bytes)) };
}

/** The tag of what a SHA-256 was made of. */
export function entityTag(hash: Bun.CryptoHasher): string {
  return `"${hash.digest("base64url")}"`;
}

/** 200 with the body, or 304 for a client that has it already. */
export function answerWith(
  request: Request,
  { body, type, etag }: Representation,
  cacheControl: string,
): Response {
  const headers = { "Cache-Control": cacheControl, ETag: etag };
  if (names(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  return new Response(body, { headers: { ...headers, "Content-Type": type } });
}

/** Whether the If-None-Match header names `etag`. Tags are compared weakly, as that header wants it. */
function names(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
