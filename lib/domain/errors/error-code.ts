/**
 * Returns the code of an error of the system, the runtime or a library, such as ECONNREFUSED. Returns null if
 * it has none.
 */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
