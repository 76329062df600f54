import { DrizzleQueryError } from "drizzle-orm/errors";
import { reportedFailure } from "./failure.ts";

/** The error for a refused query, without statement, parameters and `detail`, which contain secrets and rows. */
export class QueryFailed extends Error {
  /** The SQLSTATE, or undefined if the driver refused the query. */
  readonly code: string | undefined;
  readonly severity = "ERROR";

  constructor(operation: string, error: DrizzleQueryError) {
    const failure = reportedFailure(error);
    const { code, message = "" } = failure ?? {};
    const reason = code?.startsWith(DATA_EXCEPTION) ? "" : `: ${message}`;
    super(
      failure === undefined
        ? `${operation} failed in the driver (${error.cause?.name}).`
        : `${operation} failed (SQLSTATE ${code})${reason}`,
    );
    this.name = "QueryFailed";
    this.code = code;
  }
}

/** The SQLSTATE class of errors whose message repeats a value. */
const DATA_EXCEPTION = "22";

export function withoutStatement(operation: string, error: unknown): unknown {
  if (error instanceof DrizzleQueryError) return new QueryFailed(operation, error);
  if (error instanceof Error && error.cause !== undefined) {
    error.cause = withoutStatement(operation, error.cause);
  }
  return error;
}
