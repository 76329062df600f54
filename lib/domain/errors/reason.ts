/** Returns the message of an error's innermost cause, for the log. */
export function reasonOf(error: unknown): string {
  let innermost: unknown = error;
  while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
  return innermost instanceof Error ? innermost.message : String(innermost);
}
