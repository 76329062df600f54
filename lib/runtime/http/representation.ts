import { promisify } from "node:util";
import { gzip } from "node:zlib";
import Negotiator from "negotiator";

/** A response body that clients can cache and revalidate (RFC 9110, 13.1.2). */
export interface Representation {
  readonly body: Body;
  readonly type: string;
  /** A strong entity tag: different bytes have different tags. */
  readonly etag: string;
  /** Its bytes differ, so it has its own entity tag. */
  readonly gzip?: Pick<Representation, "body" | "etag">;
}

type Body = string | Uint8Array<ArrayBuffer> | Blob;

export const REVALIDATE = "no-cache";
/** The Cache-Control for a URL that contains a hash of the content. */
export const IMMUTABLE = "public, max-age=31536000, immutable";

const compress = promisify(gzip);

export async function representationOf(
  body: string | Uint8Array<ArrayBuffer> | Bun.BunFile,
  type: string,
): Promise<Representation> {
  return { body, type, etag: tagOf(await new Response(body).bytes()) };
}

/** The body is compressed once, here. */
export async function compressedRepresentationOf(
  body: string | Uint8Array<ArrayBuffer> | Bun.BunFile,
  type: string,
): Promise<Representation> {
  const bytes = await new Response(body).bytes();
  const small = new Uint8Array(await compress(bytes));
  return { body, type, etag: tagOf(bytes), gzip: { body: small, etag: tagOf(small) } };
}

/** Joins a body from pieces, and yields after each piece. */
export function* representationOfPieces(
  pieces: Iterable<string>,
  type: string,
): Generator<void, Representation> {
  const hash = new Bun.CryptoHasher("sha256");
  const texts: string[] = [];
  for (const piece of pieces) {
    hash.update(piece);
    texts.push(piece);
    yield;
  }
  return { body: new Blob(texts), type, etag: entityTag(hash) };
}

function tagOf(bytes: Uint8Array): string {
  return entityTag(new Bun.CryptoHasher("sha256").update(bytes));
}

function entityTag(hash: Bun.CryptoHasher): string {
  return `"${hash.digest("base64url")}"`;
}

/** Returns a 200 with the body, or a 304 if the client already has the body. */
export function respondWith(
  request: Request,
  representation: Representation,
  cacheControl: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const zipped = takesGzip(request) ? representation.gzip : undefined;
  const { body, etag } = zipped ?? representation;
  const headers = {
    ...more,
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

/** If-None-Match requires weak comparison. */
function names(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
