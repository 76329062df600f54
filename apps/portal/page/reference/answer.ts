import { tryJson } from "@ostiary/lib/domain/json";

/** The most bytes of an answer that the page shows. */
export const SHOWN_BYTES_MAX = 1024 * 1024;

/** An answer as the page shows it. */
export interface ShownAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly bytes: number;
  /** The body, or null for one that is no text. */
  readonly text: string | null;
  /** Whether the answer went on behind what is shown. */
  readonly cut: boolean;
}

/** Headers that are shown, the ones of limits first. */
const HEADERS = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "x-request-id",
  "content-type",
  "location",
  "etag",
];

const TEXT_TYPE =
  /^(?:text\/|application\/(?:[\w.+-]*[+.])?(?:json|xml|yaml|x-ndjson|x-www-form-urlencoded|javascript|jwt))/i;

/** Reads an answer up to the bound. Whatever came before the caller stopped is kept. */
export async function readAnswer(response: Response): Promise<ShownAnswer> {
  const { status, headers } = response;
  const { bytes, cut } = await readBytes(response.body, SHOWN_BYTES_MAX);
  const type = headers.get("content-type") ?? "text/plain";
  return {
    status,
    headers: HEADERS.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value] as const];
    }),
    bytes: bytes.length,
    text: TEXT_TYPE.test(type) ? new TextDecoder().decode(bytes) : null,
    cut,
  };
}

/** Reads at most `bytes_max` bytes, and cancels the rest. */
export async function readBytes(
  body: ReadableStream<Uint8Array> | null,
  bytes_max: number,
): Promise<{ bytes: Uint8Array; cut: boolean }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  let cut = false;
  const reader = body?.getReader();
  try {
    while (reader !== undefined && length <= bytes_max) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      length += value.length;
    }
    cut = length > bytes_max;
    if (cut) await reader?.cancel();
  } catch {
    cut = true;
  }
  const bytes = new Uint8Array(Math.min(length, bytes_max));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece.subarray(0, bytes.length - at), at);
    at += piece.length;
  }
  return { bytes, cut };
}

const INDENTED_LENGTH_MAX = 65_536;

/** Returns JSON with indents, and any other text as it came. */
export function laidOut(text: string): string {
  if (text.length > INDENTED_LENGTH_MAX) return text;
  const value = tryJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}
