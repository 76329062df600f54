import { type ApiError, type ErrorKind, unavailable } from "../../domain/errors/index.ts";

interface StoreUnavailableOptions {
  /** The message for an operator, if the cause is known. A general message is used otherwise. */
  message?: string;
  retry_after_seconds?: number;
}

/**
 * The error if a store does not respond or cannot serve, because it is down, unreachable, frozen, too slow or
 * overloaded. The outcome of a write may be unknown.
 */
export class StoreUnavailable extends Error {
  readonly store: "database" | "route_store" | "counter_store";
  /** The delay before a retry, if the store works but has too many callers. */
  readonly retry_after_seconds: number | undefined;

  constructor(store: StoreUnavailable["store"], cause: unknown, options: StoreUnavailableOptions = {}) {
    super(options.message ?? `The ${store.replace("_", " ")} (${store.toUpperCase()}_URL) did not respond.`, {
      cause,
    });
    this.name = "StoreUnavailable";
    this.store = store;
    this.retry_after_seconds = options.retry_after_seconds;
  }

  /** Returns the 503 that callers of the service get. */
  toApiError(): ApiError {
    const kind: ErrorKind = this.store === "database" ? "db" : "network";
    return unavailable(kind, this, this.retry_after_seconds);
  }
}
