/** Returns the message of an error's innermost cause, for the log. */
export function reasonOf(error: unknown): string {
  let innermost: unknown = error;
  while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
  return innermost instanceof Error ? innermost.message : String(innermost);
}

/**
 * Returns the code of an error of the system, the runtime or a library, such as ECONNREFUSED. Returns null
 * for an error without a code.
 */
export function systemErrorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
