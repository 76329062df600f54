import { type ApiError, validationError } from "@ostiary/lib/errors";

/** 422 for a body that is no configuration at all. */
export function malformed(message: string): ApiError {
  return validationError([{ path: "", message }]);
}

/** ` at line 3, column 5`, or nothing when the place is not known. */
export function placeOf(offset: number | undefined, text: string): string {
  if (offset === undefined) return "";
  const before = text.slice(0, offset).split("\n");
  return ` at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
