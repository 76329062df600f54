import { JSON_DEPTH_MAX } from "../json/index.ts";
import type { FieldError } from "./details.ts";
import { type ErrorCode, type ErrorKind, errorCodes } from "./error-codes.ts";

const KEY_LENGTH_MAX = 128;

/** Returns a property name of the input, shortened to 128 characters, for use in paths and messages. */
export function shownKey(key: string): string {
  return key.length > KEY_LENGTH_MAX ? `${key.slice(0, KEY_LENGTH_MAX)}…` : key;
}

export const FIELD_ERRORS_MAX = 100;

interface ApiErrorOptions {
  /** The message for the caller; by default, the message of the code in {@link errorCodes}. */
  message?: string;
  details?: Record<string, unknown>;
  /** Response headers that belong to this error, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** The underlying error, for the log only. */
  cause?: unknown;
  /** The kind of error that caused a 5xx, for the log only. */
  kind?: ErrorKind;
}

/**
 * An error that is sent to the caller as a response. The code determines the HTTP status and the `type` of
 * the body. `message` and `details` are public; `cause` and `kind` go to the log only.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Record<string, unknown> | null;
  readonly headers: Record<string, string>;
  readonly kind: ErrorKind;

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    super(options.message ?? errorCodes[code].message, { cause: options.cause });
    this.name = "ApiError";
    this.code = code;
    this.status = errorCodes[code].status;
    this.details = options.details ?? null;
    this.headers = options.headers ?? {};
    this.kind = options.kind ?? (this.status >= 500 ? "internal" : "validation");
  }
}

/** Returns a 422 that lists the wrong fields, at most {@link FIELD_ERRORS_MAX}. */
export function validationError(fields: readonly FieldError[], message?: string): ApiError {
  const first = fields[0];
  return new ApiError("VALIDATION_ERROR", {
    message: message ?? (fields.length === 1 && first ? first.message : undefined),
    details: { fields: fields.slice(0, FIELD_ERRORS_MAX) },
  });
}

/** Returns a 422 for JSON that is nested too deeply (ER-13). */
export function nestedTooDeeply(what: string): ApiError {
  return validationError([
    { path: "", message: `${what} is nested more than ${JSON_DEPTH_MAX} levels deep: flatten it.` },
  ]);
}

/** Returns a 413 for a request body of more than `bytesMax` bytes. */
export function bodyTooLarge(bytesMax: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", { details: { max_size_bytes: bytesMax } });
}

/** Returns a 404 that names the missing resource. Callers omit the name when it would reveal too much. */
export function notFound(resource?: string, id?: string): ApiError {
  return new ApiError("NOT_FOUND", resource === undefined ? {} : { details: { resource, id: id ?? null } });
}

/** The parts of a 429 that differ between limits. */
interface RateLimitedOptions {
  message?: string;
  cause?: unknown;
  /** The fields of `details` other than `retry_after_seconds`. */
  details?: Readonly<Record<string, unknown>>;
  /** Whether to close the connection after the response. */
  endsConnection?: boolean;
}

/** Returns a 429 that says when to retry, in `details` and in Retry-After. */
export function rateLimited(
  retry_after_seconds: number,
  { message, cause, details, endsConnection = false }: RateLimitedOptions = {},
): ApiError {
  return new ApiError("RATE_LIMITED", {
    message,
    cause,
    details: { retry_after_seconds, ...details },
    headers: { "Retry-After": String(retry_after_seconds), ...(endsConnection && { Connection: "close" }) },
  });
}

/** Returns a 503 for a request that the process has no capacity for. The response closes the connection. */
export function overloaded(reason: string): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", {
    headers: { "Retry-After": "1", Connection: "close" },
    cause: new Error(reason),
  });
}

/**
 * Returns a 503 for a store or service that failed or timed out. The cause is logged, not sent. Without
 * `retry_after_seconds`, the response has no Retry-After header.
 */
export function unavailable(kind: ErrorKind, cause: unknown, retry_after_seconds?: number): ApiError {
  const headers: Record<string, string> =
    retry_after_seconds === undefined ? {} : { "Retry-After": String(retry_after_seconds) };
  return new ApiError("SERVICE_UNAVAILABLE", { kind, cause, headers });
}
