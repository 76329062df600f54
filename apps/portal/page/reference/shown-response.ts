import { tryJson } from "@ostiary/lib/domain/json";
import { LIMIT_SET_HEADERS, RATE_LIMIT_HEADERS } from "@ostiary/lib/domain/ratelimit";
import { readBytes } from "../gateway.ts";

/** The maximum number of body bytes that the page shows. */
export const SHOWN_BYTES_MAX = 1024 * 1024;

/** The part of a response that the page shows. */
export interface ShownResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly bytes: number;
  /** The body, or null if it is not text. */
  readonly text: string | null;
  /** Whether part of the body is missing, because the body is too long or the download failed. */
  readonly cut: boolean;
}

/** The response headers that the page shows, rate limit headers first. */
const HEADERS = [
  ...Object.values(RATE_LIMIT_HEADERS),
  LIMIT_SET_HEADERS.limits,
  LIMIT_SET_HEADERS.policies,
  "retry-after",
  "x-request-id",
  "content-type",
  "location",
  "etag",
].map((name) => name.toLowerCase());

const TEXT_TYPE =
  /^(?:text\/|application\/(?:[\w.+-]*[+.])?(?:json|xml|yaml|x-ndjson|x-www-form-urlencoded|javascript|jwt))/i;

/** Reads a response up to the size limit. If the download fails, returns what arrived, with `cut` set. */
export async function readResponse(response: Response): Promise<ShownResponse> {
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

const INDENTED_LENGTH_MAX = 65_536;

/** Indents JSON. Returns a text unchanged if it is long or not JSON. */
export function laidOut(text: string): string {
  if (text.length > INDENTED_LENGTH_MAX) return text;
  const value = tryJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}
