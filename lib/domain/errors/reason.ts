/**
 * Returns the reason for the log: the message of the innermost cause. It contains no secret of this service.
 */
export function reasonOf(error: unknown): string {
  let innermost: unknown = error;
  while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
  return innermost instanceof Error ? innermost.message : String(innermost);
}
