import { DrizzleQueryError } from "drizzle-orm/errors";
import { NoPermit } from "../../../async/index.ts";
import { StoreUnavailable } from "../errors.ts";

/** The SQLSTATE of a write that was refused in a read-only session. */
const READ_ONLY = "25006";
const INSUFFICIENT_PRIVILEGE = "42501";
/**
 * The SQLSTATEs of a refused setting in the start-up packet. An older server does not know the setting
 * (undefined_object), and a pooler accepts few settings (protocol_violation).
 */
const SETTING_REFUSED = ["42704", "08P01"];

/**
 * The SQLSTATE classes and codes of a server that cannot serve now. The classes are connection exceptions
 * (08), authorization (28), resources (53), operator intervention and statement timeouts (57), and system
 * errors (58). The codes are an unknown database (3D000), a standby (25006) and a terminated idle transaction
 * (25P03).
 */
const refusals = ["08", "28", "53", "57", "58", "3D000", READ_ONLY, "25P03"];

/**
 * The SQLSTATE classes and codes after which the connection is closed or about to close: connection
 * exceptions, shutdown, crash, startup and a terminated idle transaction.
 */
const endings = ["08", "57P", "25P03"];

/** The Retry-After if no database connection was free. */
const BUSY_SECONDS = 1;

/** The codes of errors that come from the driver or the runtime, not from the server. */
const connectionCode = /^(E[A-Z_]+|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|SASL_[A-Z_]+|ERR_TLS\w*|\w*CERT\w*)$/;

/** The error for a connection that is lost, or that the pool has discarded. The message contains the reason. */
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

/** Returns whether `error` says that the connection was lost before the work had an effect. */
export function isRepeatable(error: unknown): boolean {
  const failure = driverError(error);
  return failure instanceof ConnectionLost && failure.isRepeatable;
}

/**
 * Returns `StoreUnavailable` if the server cannot serve or if no connection was free. Returns any other error
 * unchanged, including errors that the work itself throws.
 */
export function databaseFailure(error: unknown): unknown {
  const failure = driverError(error);
  const refused =
    failure instanceof NoPermit || failure instanceof ConnectionLost || hasState(failure, refusals);
  if (!refused) return error;
  const retry_after_seconds = failure instanceof NoPermit ? BUSY_SECONDS : undefined;
  return new StoreUnavailable("database", failure, { retry_after_seconds });
}

/** Throws the {@link databaseFailure} of `error`. */
export function throwDatabaseFailure(error: unknown): never {
  throw databaseFailure(error);
}

/**
 * Returns `ConnectionLost` if the connection that reported `error` is lost, and any other error unchanged.
 * Callers must pass only errors of the driver, because other errors can have the same codes.
 */
export function connectionFailure(error: unknown): unknown {
  const isLost = isReported(error) ? hasState(error, endings) : hasConnectionCode(error);
  return isLost ? new ConnectionLost("The connection was lost.", { cause: error }) : error;
}

/** Returns whether the server answered that it cannot serve this session, such as for a wrong password. */
export function isRefusedSession(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !endings.some((ending) => state.startsWith(ending));
}

/** Returns whether the server refused the statement because the server is read-only. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === READ_ONLY;
}

/** Returns whether a new session was refused because of a setting in its start-up packet. */
export function isSettingRefused(error: unknown): boolean {
  return SETTING_REFUSED.includes(sqlState(error) ?? "");
}

/** Returns whether the database user lacks a privilege that the statement needs. */
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

function hasConnectionCode(failure: unknown): boolean {
  return (
    failure instanceof Error &&
    "code" in failure &&
    typeof failure.code === "string" &&
    connectionCode.test(failure.code)
  );
}

/** An error that the server reported. Both drivers copy the server's fields to their own errors. */
interface Reported {
  /** The SQLSTATE of the error. */
  code: string;
}

/**
 * Returns the SQLSTATE of an error that PostgreSQL reported, such as `23505`. Finds it inside of wrapping
 * errors. Returns undefined for other errors.
 */
export function sqlState(error: unknown): string | undefined {
  return reportedFailure(error)?.code;
}

const WRAPPINGS_MAX = 8;

/** Returns the error that the server reported, also from inside of wrapping errors. */
export function reportedFailure(error: unknown): (Error & Reported) | undefined {
  let candidate = error;
  for (let depth = 0; depth < WRAPPINGS_MAX && candidate instanceof Error; depth++) {
    if (isReported(candidate)) return candidate;
    candidate = candidate.cause;
  }
  return undefined;
}

/**
 * Returns whether the server reported the error. Only errors of the server have a severity, and those of a pooler
 * have only the localized one.
 */
function isReported(error: unknown): error is Error & Reported {
  return (
    error instanceof Error &&
    ("severity" in error || "severity_local" in error) &&
    "code" in error &&
    typeof error.code === "string"
  );
}
