/**
 * Returns the code of an error of the system, the runtime or a library, such as ECONNREFUSED. Returns null
 * for an error without a code.
 */
export function systemErrorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
