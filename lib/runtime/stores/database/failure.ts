import { DrizzleQueryError } from "drizzle-orm/errors";
import { NoPermit } from "../../../async/index.ts";
import { StoreUnavailable } from "../errors.ts";

/** A write, where none may be done. */
const READ_ONLY = "25006";

/**
 * SQLSTATE classes and codes by which a server says that it cannot serve now: connection exceptions (08),
 * authorization (28), resources (53), operator intervention and statement timeouts (57), system errors (58),
 * an unknown database, a standby, an idle transaction that was ended.
 */
const refusals = ["08", "28", "53", "57", "58", "3D000", READ_ONLY, "25P03"];

/** After these the connection is gone or about to go: shut-down, crash, start-up, idle transaction ended. */
const endings = ["08", "57P", "25P03"];

/** After so long it is worth while to ask again a database that had no connection left. */
const BUSY_SECONDS = 1;

/** Codes of errors raised by the driver or the runtime, not by the server. */
const connectionCode = /^(E[A-Z_]+|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|SASL_[A-Z_]+|ERR_TLS\w*|\w*CERT\w*)$/;

/** This adapter gave a connection up; the message says why. */
export class ConnectionLost extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConnectionLost";
  }
}

/**
 * `StoreUnavailable` when the server says that it cannot serve, or no connection was to be had; the error
 * itself for anything else. Errors that the work made of its own are left alone, whatever their causes.
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
 * Whether the connection that reported `error` can no longer be trusted. To be asked of the driver's errors
 * only: others may carry the same codes.
 */
export function isConnectionLost(error: unknown): boolean {
  const failure = driverError(error);
  if (sqlState(failure) !== undefined) return hasState(failure, endings);
  return failure instanceof ConnectionLost || hasConnectionCode(failure);
}

/** Whether the server refused `error`'s statement since it takes no writes, or takes none now. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === READ_ONLY;
}

/** drizzle wraps what the driver rejects with. */
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

/** An error that the server sent, which both drivers copy onto theirs. */
interface Reported {
  severity: unknown;
  /** The SQLSTATE. */
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

function reportedFailure(error: unknown): Reported | undefined {
  let candidate = error;
  for (let depth = 0; depth < WRAPPINGS_MAX && candidate instanceof Error; depth++) {
    if (isReported(candidate)) return candidate;
    candidate = candidate.cause;
  }
  return undefined;
}

/** Only what a server reported has a severity. */
function isReported(error: unknown): error is Error & Reported {
  return error instanceof Error && "severity" in error && "code" in error && typeof error.code === "string";
}
