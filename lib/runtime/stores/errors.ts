import { type ApiError, type ErrorKind, unavailable } from "../../domain/errors/index.ts";

export interface StoreUnavailableOptions {
  /** For an operator, where more is known than that there was no answer. */
  message?: string;
  retry_after_seconds?: number;
}

/**
 * A store did not answer: it is down, unreachable, frozen or slower than its deadline. The outcome of the
 * operation is unknown unless the operation was a read.
 */
export class StoreUnavailable extends Error {
  readonly store: "database" | "route_store" | "counter_store";
  /** When to ask again, where nothing is broken and too many ask at once. */
  readonly retry_after_seconds: number | undefined;

  constructor(store: StoreUnavailable["store"], cause: unknown, options: StoreUnavailableOptions = {}) {
    super(options.message ?? `The ${store.replace("_", " ")} (${store.toUpperCase()}_URL) did not answer.`, {
      cause,
    });
    this.name = "StoreUnavailable";
    this.store = store;
    this.retry_after_seconds = options.retry_after_seconds;
  }

  /** The 503 that a caller of the service gets. */
  toApiError(): ApiError {
    const kind: ErrorKind = this.store === "database" ? "db" : "network";
    return unavailable(kind, this, this.retry_after_seconds);
  }
}
