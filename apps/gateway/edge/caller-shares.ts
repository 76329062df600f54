import { rateLimited } from "@ostiary/lib/domain/errors";
import type { Principal } from "../admission/principal.ts";

/**
 * The number of equal shares into which the maximum number of requests in flight is divided. While more than
 * half of that maximum is in flight, the new requests of a caller may fill at most one share.
 */
const SHARES = 8;
const RETRY_AFTER_SECONDS = 1;

/** A request that counts against the share of its caller. */
export interface SharedRequest {
  readonly principal: Principal | null;
  /** The caller whose share the request counts against, or null if the request counts against no share. */
  share: string | null;
}

/**
 * Keeps one caller from using the whole capacity of a gateway (GW-167). Requests are counted only while more
 * than half of the capacity is in use, so counting costs nothing under normal load. A caller is a person on
 * user routes, and an organization on organization and member routes.
 */
export class CallerShares {
  readonly #shareMax: number;
  readonly #held = new Map<string, number>();
  #refused = 0;

  /** @param requestsMax maximum number of requests in flight */
  constructor(requestsMax: number) {
    this.#shareMax = Math.max(1, Math.floor(requestsMax / SHARES));
  }

  /** Number of refused requests since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Counts `request` until it is released. Throws ApiError 429 if the caller's share is used up. */
  claim(request: SharedRequest): void {
    const caller = request.principal?.organization_id ?? request.principal?.user_id ?? null;
    if (caller === null) return;
    const held = this.#held.get(caller) ?? 0;
    if (held >= this.#shareMax) this.#refuse();
    this.#held.set(caller, held + 1);
    request.share = caller;
  }

  /** Stops counting a request that has ended. */
  release(request: SharedRequest): void {
    const { share } = request;
    if (share === null) return;
    request.share = null;
    const held = (this.#held.get(share) ?? 0) - 1;
    if (held > 0) this.#held.set(share, held);
    else this.#held.delete(share);
  }

  #refuse(): never {
    this.#refused += 1;
    const message = "Too many of your requests are in flight. Try again in a moment.";
    throw rateLimited(RETRY_AFTER_SECONDS, { message, endsConnection: true });
  }
}
