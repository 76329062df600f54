import { ApiError, bodyTooLarge, validationError } from "../../domain/errors/index.ts";
import { JSON_DEPTH_MAX, JsonTooDeep, parseJson } from "../../domain/json/index.ts";

/** Reads a request body of at most `bytes_max` bytes; 413 past that. */
export async function readBytes(request: Request, bytes_max: number): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > bytes_max) throw bodyTooLarge(bytes_max);
  // the server holds a body to its declared length, and hands a whole one out faster than its parts
  if (declared !== null) return request.bytes();
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (request.body) {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size > bytes_max) throw bodyTooLarge(bytes_max);
      chunks.push(chunk);
    }
  }
  return Buffer.concat(chunks);
}

/** Reads a request body of at most `bytes_max` bytes as text; 413 past that, 400 when it is not UTF-8. */
export async function readText(request: Request, bytes_max: number): Promise<string> {
  const bytes = await readBytes(request, bytes_max);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ApiError("INVALID_REQUEST", { message: "The body is not valid UTF-8.", cause });
  }
}

/** Parses a JSON body: 422 when it is nested too deeply, 400 when it is not JSON. */
export function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    if (cause instanceof JsonTooDeep) throw nestedTooDeeply("The body");
    throw new ApiError("INVALID_REQUEST", { message: "The body is not valid JSON.", cause });
  }
}

/** 422 for JSON past the bound of contract 2. */
export function nestedTooDeeply(what: string): ApiError {
  return validationError([
    { path: "", message: `${what} is nested more than ${JSON_DEPTH_MAX} levels deep: flatten it.` },
  ]);
}
