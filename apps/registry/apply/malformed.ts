import { type ApiError, validationError } from "@ostiary/lib/errors";

/** 422 for a body that is no configuration at all. */
export function malformed(message: string): ApiError {
  return validationError([{ path: "", message }]);
}
