import { DrizzleQueryError } from "drizzle-orm/errors";
import { NoPermit } from "../../../async/index.ts";
import { StoreUnavailable } from "../errors.ts";

/** The SQLSTATE of a write that was refused in a read-only session. */
const READ_ONLY = "25006";
const INSUFFICIENT_PRIVILEGE = "42501";
/** The SQLSTATE of an unknown object. For a new session, the object is a setting. */
const UNDEFINED_OBJECT = "42704";

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

/** The error for a connection that this adapter has abandoned. The message contains the reason. */
export class ConnectionLost extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConnectionLost";
  }
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
 * Returns whether the connection that reported `error` is lost. Callers must pass only errors of the driver,
 * because other errors can have the same codes.
 */
export function isConnectionLost(error: unknown): boolean {
  const failure = driverError(error);
  if (sqlState(failure) !== undefined) return hasState(failure, endings);
  return failure instanceof ConnectionLost || hasConnectionCode(failure);
}

/** Returns whether the server refused the statement because the server is read-only. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === READ_ONLY;
}

/** Returns whether the server rejected a new session because of a setting that the server does not know. */
export function isUnknownSetting(error: unknown): boolean {
  return sqlState(error) === UNDEFINED_OBJECT;
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
  severity: string;
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

/** Returns whether the server reported the error. Only errors of the server have a severity. */
function isReported(error: unknown): error is Error & Reported {
  return (
    error instanceof Error &&
    "severity" in error &&
    typeof error.severity === "string" &&
    "code" in error &&
    typeof error.code === "string"
  );
}
