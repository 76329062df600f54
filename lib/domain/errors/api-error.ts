import { type ErrorCode, type ErrorKind, errorCodes } from "./codes.ts";
import type { FieldError } from "./details.ts";

const KEY_LENGTH_MAX = 128;

/** A key of the input as paths and messages show it: it may be of any length. */
export function shownKey(key: string): string {
  return key.length > KEY_LENGTH_MAX ? `${key.slice(0, KEY_LENGTH_MAX)}…` : key;
}

/** The most field errors one answer lists. */
export const FIELD_ERRORS_MAX = 100;

export interface ApiErrorOptions {
  /** Shown to the caller instead of the code's generic sentence. */
  message?: string;
  /** The envelope's `details`. */
  details?: Record<string, unknown>;
  /** Response headers that belong to this error, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** For the log only: what really happened. */
  cause?: unknown;
  /** For the log only, on 5xx. */
  kind?: ErrorKind;
}

/**
 * An error with an answer: the code gives status and type, `message` and `details` are public, `cause` and
 * `kind` go to the log and never to the caller.
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

/** 422 with every wrong field, cut at {@link FIELD_ERRORS_MAX}. */
export function validationError(fields: readonly FieldError[], message?: string): ApiError {
  const first = fields[0];
  return new ApiError("VALIDATION_ERROR", {
    message: message ?? (fields.length === 1 && first ? first.message : undefined),
    details: { fields: fields.slice(0, FIELD_ERRORS_MAX) },
  });
}

/** 413 for a request body of more than `bytes_max` bytes. */
export function bodyTooLarge(bytes_max: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", { details: { max_size_bytes: bytes_max } });
}

/** 404 that names what was looked for, or nothing when naming it would tell too much. */
export function notFound(resource?: string, id?: string): ApiError {
  return new ApiError("NOT_FOUND", resource === undefined ? {} : { details: { resource, id: id ?? null } });
}

/**
 * A store that did not answer in time or at all: 503 for the caller, the reason for the log; with Retry-After
 * where it is known that a later request may be served.
 */
export function unavailable(kind: ErrorKind, cause: unknown, retry_after_seconds?: number): ApiError {
  const headers: Record<string, string> =
    retry_after_seconds === undefined ? {} : { "Retry-After": String(retry_after_seconds) };
  return new ApiError("SERVICE_UNAVAILABLE", { kind, cause, headers });
}
