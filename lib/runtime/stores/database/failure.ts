import { DrizzleQueryError } from "drizzle-orm/errors";
import { NoPermit } from "../../../async/index.ts";
import { StoreUnavailable } from "../errors.ts";

/** The SQLSTATE of a refused write in a read-only session. */
const READ_ONLY = "25006";
const INSUFFICIENT_PRIVILEGE = "42501";

/**
 * The SQLSTATE classes and codes of a server that cannot serve now: connection exceptions (08), authorization
 * (28), resources (53), operator intervention and statement timeouts (57), system errors (58); also an
 * unknown database, a standby, and an ended idle transaction.
 */
const refusals = ["08", "28", "53", "57", "58", "3D000", READ_ONLY, "25P03"];

/**
 * The codes after which the connection is closed or about to close: shutdown, crash, startup, idle
 * transaction ended.
 */
const endings = ["08", "57P", "25P03"];

/** The Retry-After when the database had no free connection. */
const BUSY_SECONDS = 1;

/** The codes of errors from the driver or the runtime, not from the server. */
const connectionCode = /^(E[A-Z_]+|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|SASL_[A-Z_]+|ERR_TLS\w*|\w*CERT\w*)$/;

/** The error for a connection that this adapter has abandoned. The message says why. */
export class ConnectionLost extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConnectionLost";
  }
}

/**
 * Returns `StoreUnavailable` when the server cannot serve or no connection was free, else the error itself.
 * Errors that the work itself throws are returned unchanged, whatever their causes.
 */
export function databaseFailure(error: unknown): unknown {
  const failure = driverError(error);
  const refused =
    failure instanceof NoPermit || failure instanceof ConnectionLost || hasState(failure, refusals);
  if (!refused) return error;
  const retry_after_seconds = failure instanceof NoPermit ? BUSY_SECONDS : undefined;
  return new StoreUnavailable("database", failure, { retry_after_seconds });
}

/** Rejects with the {@link databaseFailure} of `error`. */
export function throwDatabaseFailure(error: unknown): never {
  throw databaseFailure(error);
}

/**
 * Returns whether the connection that reported `error` is lost. Pass only errors of the driver, because other
 * errors can have the same codes.
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

/** Returns whether the user of the database lacks a right that the statement needs. */
export function lacksPrivilege(error: unknown): boolean {
  return sqlState(error) === INSUFFICIENT_PRIVILEGE;
}

/** Returns the error of the driver, which drizzle wraps. */
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

/** An error from the server. Both drivers copy its fields onto theirs. */
interface Reported {
  severity: unknown;
  /** The SQLSTATE. */
  code: string;
}

/**
 * Returns the SQLSTATE of an error that PostgreSQL reported, such as `23505`, through any wrapping errors.
 * Returns undefined for other errors.
 */
export function sqlState(error: unknown): string | undefined {
  return reportedFailure(error)?.code;
}

const WRAPPINGS_MAX = 8;

function reportedFailure(error: unknown): Reported | undefined {
  let candidate = error;
  for (let depth = 0; depth < WRAPPINGS_MAX && candidate instanceof Error; depth++) {
    if (isReported(candidate)) return candidate;
    candidate = candidate.cause;
  }
  return undefined;
}

/** Returns whether the server reported the error: only such errors have a severity. */
function isReported(error: unknown): error is Error & Reported {
  return error instanceof Error && "severity" in error && "code" in error && typeof error.code === "string";
}
