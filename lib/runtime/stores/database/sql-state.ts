interface PostgresFailure {
  severity: unknown;
  code: string;
  /** Named so by PGlite. */
  constraint?: unknown;
  /** Named so by postgres.js. */
  constraint_name?: unknown;
}

/**
 * The SQLSTATE of an error that PostgreSQL reported, such as `23505`, whatever it was wrapped in on its way
 * here; undefined for every other error.
 */
export function sqlState(error: unknown): string | undefined {
  return reportedFailure(error)?.code;
}

/** Whether `error` reports that a unique constraint or index was violated: the one named, or any. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const failure = reportedFailure(error);
  if (failure?.code !== "23505") return false;
  return constraint === undefined || (failure.constraint ?? failure.constraint_name) === constraint;
}

const WRAPPINGS_MAX = 8;

function reportedFailure(error: unknown): PostgresFailure | undefined {
  let candidate = error;
  for (let depth = 0; depth < WRAPPINGS_MAX && candidate instanceof Error; depth++) {
    if (isReported(candidate)) return candidate;
    candidate = candidate.cause;
  }
  return undefined;
}

/** Both drivers copy the server's fields onto the error; only such an error has a severity. */
function isReported(error: Error): error is Error & PostgresFailure {
  return "severity" in error && "code" in error && typeof error.code === "string";
}
