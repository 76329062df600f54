import { promisify } from "node:util";
import { gzip } from "node:zlib";
import Negotiator from "negotiator";

/** A body that clients may keep, and ask whether it is still right (RFC 9110, 13.1.2). */
export interface Representation {
  readonly body: Body;
  readonly type: string;
  /** A strong entity tag: other bytes have another one. */
  readonly etag: string;
  /** The same body for clients that take gzip; its bytes are others, so its tag is. */
  readonly gzip?: Pick<Representation, "body" | "etag">;
}

type Body = string | Uint8Array<ArrayBuffer> | Bun.BunFile;

/** To be asked about each time it is used. */
export const REVALIDATE = "no-cache";
/** For an address that names the content itself: never to be asked about again. */
export const IMMUTABLE = "public, max-age=31536000, immutable";

const compress = promisify(gzip);

export async function representationOf(body: string | Bun.BunFile, type: string): Promise<Representation> {
  return { body, type, etag: tagOf(typeof body === "string" ? body : await body.bytes()) };
}

/** With the body's compressed form beside it, which is made once. */
export async function compressedRepresentationOf(
  body: string | Bun.BunFile,
  type: string,
): Promise<Representation> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : await body.bytes();
  const small = new Uint8Array(await compress(bytes));
  return { body, type, etag: tagOf(bytes), gzip: { body: small, etag: tagOf(small) } };
}

function tagOf(bytes: string | Uint8Array<ArrayBuffer>): string {
  return entityTag(new Bun.CryptoHasher("sha256").update(bytes));
}

/** The tag of what a SHA-256 was made of. */
export function entityTag(hash: Bun.CryptoHasher): string {
  return `"${hash.digest("base64url")}"`;
}

/** 200 with the body, or 304 for a client that has it already. */
export function answerWith(request: Request, representation: Representation, cacheControl: string): Response {
  const zipped = takesGzip(request) ? representation.gzip : undefined;
  const { body, etag } = zipped ?? representation;
  const headers = {
    "Cache-Control": cacheControl,
    ETag: etag,
    ...(representation.gzip && { Vary: "Accept-Encoding" }),
  };
  if (names(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  return new Response(body, {
    headers: {
      ...headers,
      "Content-Type": representation.type,
      ...(zipped && { "Content-Encoding": "gzip" }),
    },
  });
}

function takesGzip({ headers }: Request): boolean {
  const negotiator = new Negotiator({ headers: { "accept-encoding": headers.get("accept-encoding") ?? "" } });
  return negotiator.encoding(["gzip", "identity"]) === "gzip";
}

/** Whether the If-None-Match header names `etag`. Tags are compared weakly, as that header wants it. */
function names(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
