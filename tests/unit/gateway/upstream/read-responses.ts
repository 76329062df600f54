import { FieldNames } from "../../../../apps/gateway/upstream/field-names.ts";
import { MalformedResponse } from "../../../../apps/gateway/upstream/http-bytes.ts";
import { type ResponseHead, ResponseReader } from "../../../../apps/gateway/upstream/response-reader.ts";

/** A response as a `ResponseReader` reports it. */
export interface ReadResponse {
  readonly head: ResponseHead | null;
  readonly body: string;
  readonly complete: boolean;
  readonly reusable: boolean;
  /** Why the response was refused; null if it was not. */
  readonly refused: string | null;
}

export interface ReadOptions {
  readonly method?: string;
  /** Whether the connection closes normally after the bytes. */
  readonly ended?: boolean;
}

const ALL_NAMES = new FieldNames(() => true);

/** Reads one response from chunks of Latin-1 text or bytes. Throws all errors except `MalformedResponse`. */
export function readResponse(
  chunks: readonly (string | Buffer)[],
  { method = "GET", ended = false }: ReadOptions = {},
): ReadResponse {
  const body: Uint8Array[] = [];
  let head: ResponseHead | null = null;
  let end: { reusable: boolean } | null = null;
  let refused: string | null = null;
  const reader = new ResponseReader(ALL_NAMES, {
    onHead: (each) => {
      head = each;
    },
    onBody: (bytes) => body.push(bytes),
    onEnd: (reusable) => {
      end = { reusable };
    },
  });
  reader.expect(method);
  try {
    for (const chunk of chunks) {
      // The gateway closes a connection that has bytes after the response, so the reader does not get them.
      if (end !== null) {
        end = { reusable: false };
        break;
      }
      reader.take(typeof chunk === "string" ? Buffer.from(chunk, "latin1") : chunk);
    }
    if (ended) reader.end();
  } catch (error) {
    if (!(error instanceof MalformedResponse)) throw error;
    refused = error.message;
  }
  const text = Buffer.concat(body).toString("latin1");
  return { head, body: text, complete: end !== null, reusable: isReusable(end), refused };
}

function isReusable(end: { reusable: boolean } | null): boolean {
  return end?.reusable ?? false;
}

/** Splits `text` at `offsets`, which may be in any order. Offsets outside the text are ignored. */
export function cutAt(text: string, offsets: readonly number[]): string[] {
  const inside = [...new Set(offsets)]
    .filter((offset) => offset > 0 && offset < text.length)
    .sort((a, b) => a - b);
  const bounds = [0, ...inside, text.length];
  return bounds.slice(1).map((to, index) => text.slice(bounds[index], to));
}
