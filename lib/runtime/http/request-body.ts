import { readBounded } from "../../async/index.ts";
import {
  ApiError,
  bodyTooLarge,
  nestedTooDeeply,
  shownPath,
  validationError,
} from "../../domain/errors/index.ts";
import { JsonTooDeep, NotIJson, parseIJson, tryUtf8 } from "../../domain/json/index.ts";

/** Throws a 413 if the body has more than `bytesMax` bytes. */
export async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > bytesMax) throw bodyTooLarge(bytesMax);
  // The server enforces the declared length. Reading the body at once is faster than reading it in chunks.
  if (declared !== null) return request.bytes();
  return readBounded(request.body, bytesMax, () => bodyTooLarge(bytesMax));
}

/** Throws a 413 if the body has more than `bytesMax` bytes, and a 400 if it is not UTF-8. */
export async function readText(request: Request, bytesMax: number): Promise<string> {
  const text = tryUtf8(await readBytes(request, bytesMax));
  if (text === undefined) {
    throw new ApiError("INVALID_REQUEST", { message: "The body is not valid UTF-8." });
  }
  return text;
}

/** Throws a 400 for malformed JSON, and a 422 for JSON that is nested too deeply or is not I-JSON. */
export function parseBody(text: string): unknown {
  try {
    return parseIJson(text);
  } catch (cause) {
    if (cause instanceof JsonTooDeep) throw nestedTooDeeply("The body");
    if (cause instanceof NotIJson) {
      const path = shownPath(cause.path);
      throw validationError([{ path, message: `The body must be I-JSON: ${cause.message}.` }]);
    }
    throw new ApiError("INVALID_REQUEST", { message: "The body is not valid JSON.", cause });
  }
}
