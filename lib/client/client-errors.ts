/** The details of an error. Each code has its own fields. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** The facts of a failed call. */
export interface Failure {
  /**
   * The code of the API, such as `NOT_FOUND`, or a code of this package:
   *
   * - `NO_RESPONSE`: the connection failed, or no whole response arrived in time
   * - `UNEXPECTED_RESPONSE`: the response is not one of the API, such as a page of a proxy or a redirect
   * - `WEBHOOK_REFUSED`: a webhook has no valid signature
   */
  readonly code: string;
  readonly message: string;
  /** The status of the response, or null without a response. */
  readonly status?: number | null;
  /** The id of the request in the logs of the platform. */
  readonly request_id?: string | null;
  readonly details?: ErrorDetails | null;
  /** The wait that the server asked for. */
  readonly retry_after_seconds?: number | null;
  readonly cause?: unknown;
}

/** The error of every failed call. An aborted call throws the reason of its signal instead. */
export class OstiaryError extends Error {
  override readonly name = "OstiaryError";
  readonly code: string;
  readonly status: number | null;
  readonly request_id: string | null;
  readonly details: ErrorDetails | null;
  readonly retry_after_seconds: number | null;

  constructor(failure: Failure) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.code = failure.code;
    this.status = failure.status ?? null;
    this.request_id = failure.request_id ?? null;
    this.details = failure.details ?? null;
    this.retry_after_seconds = failure.retry_after_seconds ?? null;
  }
}

/** The error of the API, if `body` is one. */
export function errorIn(body: unknown): (Failure & { readonly request_id: string }) | null {
  if (!isRecord(body) || !isRecord(body.error)) return null;
  const { code, message, request_id, details } = body.error;
  if (typeof code !== "string" || typeof message !== "string" || typeof request_id !== "string") return null;
  return { code, message, request_id, details: isRecord(details) ? details : null };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
