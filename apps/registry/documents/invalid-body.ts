import { type ApiError, validationError } from "@ostiary/lib/domain/errors";

const LINE_BREAK = 0x0a;

/** Returns the 422 for a body that cannot be read as a configuration at all. */
export function invalidBody(message: string): ApiError {
  return validationError([{ path: "", message }]);
}

/** Returns a place such as ` at line 3, column 5`, or an empty text when the offset is unknown. */
export function placeOf(offset: number | undefined, text: string): string {
  if (offset === undefined || offset < 0) return "";
  let line = 1;
  let start = 0;
  for (let index = 0; index < offset; index++) {
    if (text.charCodeAt(index) !== LINE_BREAK) continue;
    line++;
    start = index + 1;
  }
  return ` at line ${line}, column ${offset - start + 1}`;
}
