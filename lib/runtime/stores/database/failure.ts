import { DrizzleQueryError } from "drizzle-orm/errors";
import { NoPermit } from "../../../async/index.ts";
import { systemErrorCode } from "../../../domain/errors/index.ts";
import { StoreUnavailable } from "../errors.ts";

const READ_ONLY = "25006";
const INSUFFICIENT_PRIVILEGE = "42501";
/** A refused setting in the start-up packet: undefined_object of an older server, protocol_violation of a pooler. */
const SETTING_REFUSED = ["42704", "08P01"];

/**
 * A server that cannot serve now: connection exceptions (08), authorization (28), resources (53), intervention and
 * statement timeouts (57), system errors (58), unknown database, standby, terminated idle transaction.
 */
const refusals = ["08", "28", "53", "57", "58", "3D000", READ_ONLY, "25P03"];

/** The connection is closed or about to close: connection exceptions, shutdown, crash, startup, idle transaction. */
const endings = ["08", "57P", "25P03"];

/** The Retry-After if no database connection was free. */
const BUSY_SECONDS = 1;

/** The codes of errors that come from the driver or the runtime, not from the server. */
const connectionCode = /^(E[A-Z_]+|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|SASL_[A-Z_]+|ERR_TLS\w*|\w*CERT\w*)$/;

export class ConnectionLost extends Error {
  /** Whether the work has had no effect, so that it can be repeated over another connection. */
  readonly isRepeatable: boolean;

  constructor(
    message: string,
    { cause, isRepeatable = true }: { cause?: unknown; isRepeatable?: boolean } = {},
  ) {
    super(message, { cause });
    this.name = "ConnectionLost";
    this.isRepeatable = isRepeatable;
  }
}

/** Returns whether the connection was lost before the work had an effect. */
export function isRepeatable(error: unknown): boolean {
  const failure = driverError(error);
  return failure instanceof ConnectionLost && failure.isRepeatable;
}

/** Returns `StoreUnavailable` if the server cannot serve or no connection was free, and any other error unchanged. */
export function databaseFailure(error: unknown): unknown {
  const failure = driverError(error);
  const refused =
    failure instanceof NoPermit || failure instanceof ConnectionLost || hasState(failure, refusals);
  if (!refused) return error;
  const retry_after_seconds = failure instanceof NoPermit ? BUSY_SECONDS : undefined;
  return new StoreUnavailable("database", failure, { retry_after_seconds });
}

export function throwDatabaseFailure(error: unknown): never {
  throw databaseFailure(error);
}

/** Returns `ConnectionLost` for an error of the driver. Other errors can have the same codes. */
export function connectionFailure(error: unknown): unknown {
  const isLost = isReported(error)
    ? hasState(error, endings)
    : connectionCode.test(systemErrorCode(error) ?? "");
  return isLost ? new ConnectionLost("The connection was lost.", { cause: error }) : error;
}

/** Returns whether the server responded that it cannot serve this session, such as for a wrong password. */
export function isRefusedSession(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !endings.some((ending) => state.startsWith(ending));
}

export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === READ_ONLY;
}

export function isSettingRefused(error: unknown): boolean {
  return SETTING_REFUSED.includes(sqlState(error) ?? "");
}

export function lacksPrivilege(error: unknown): boolean {
  return sqlState(error) === INSUFFICIENT_PRIVILEGE;
}

/** Returns the driver's error. drizzle wraps the driver's error in an error of its own. */
function driverError(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? error.cause : error;
}

function hasState(failure: unknown, states: string[]): boolean {
  return isReported(failure) && states.some((state) => failure.code.startsWith(state));
}

type Reported = Error & { code: string };

/** Returns the SQLSTATE of an error that PostgreSQL reported, such as `23505`, also from inside of wrapping errors. */
export function sqlState(error: unknown): string | undefined {
  return reportedFailure(error)?.code;
}

const WRAPPINGS_MAX = 8;

export function reportedFailure(error: unknown): Reported | undefined {
  let candidate = error;
  for (let depth = 0; depth < WRAPPINGS_MAX && candidate instanceof Error; depth++) {
    if (isReported(candidate)) return candidate;
    candidate = candidate.cause;
  }
  return undefined;
}

/** Only errors of the server have a severity, and those of a pooler have only the localized one. */
function isReported(error: unknown): error is Reported {
  return (
    error instanceof Error &&
    ("severity" in error || "severity_local" in error) &&
    systemErrorCode(error) !== null
  );
}

/** The error for a refused query, without statement, parameters and `detail`, which contain secrets and rows. */
class QueryFailed extends Error {
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
