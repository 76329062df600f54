import { overloaded, rateLimited } from "@ostiary/lib/domain/errors";
import type { Principal } from "../admission/principal.ts";

/**
 * The number of equal shares into which the maximum number of requests in flight is divided. While more than
 * half of that maximum is in flight, the new requests of a caller may fill at most one share.
 */
const SHARES = 8;
/**
 * The number of shares that the new requests for one address may fill, so that one share is left for other addresses.
 */
const SHARES_OF_ADDRESS = 3;
const RETRY_AFTER_SECONDS = 1;

export interface SharedRequest {
  readonly principal: Principal | null;
  /** Services with one address, in any spelling, share, since they hang together. */
  readonly route: { readonly address: string };
  isShared: boolean;
}

/**
 * Keeps one caller (GW-167), the public routes of one address (GW-233), and one address (GW-234) from using the whole
 * capacity of a gateway. Requests are counted only while more than half of the capacity is in use, so counting costs
 * nothing under normal load. A caller is a person on user routes, and an organization on organization and member
 * routes.
 */
export class Shares {
  readonly #shareMax: number;
  readonly #callers = new Map<string, number>();
  readonly #public = new Map<string, number>();
  readonly #addresses = new Map<string, number>();
  refused = 0;
  refusedForServices = 0;

  constructor(requestsMax: number) {
    this.#shareMax = Math.max(1, Math.floor(requestsMax / SHARES));
  }

  /** Counts `request` until it is released. Throws ApiError 429 or 503 if a share is used up. */
  claim(request: SharedRequest): void {
    const { principal, route } = request;
    const { address } = route;
    if (principal !== null && held(this.#callers, callerOf(principal)) >= this.#shareMax) {
      this.refused += 1;
      const message = "Too many of your requests are in flight. Try again in a moment.";
      throw rateLimited(RETRY_AFTER_SECONDS, { message, endsConnection: true });
    }
    const isFull = principal === null && held(this.#public, address) >= this.#shareMax;
    if (isFull || held(this.#addresses, address) >= this.#shareMax * SHARES_OF_ADDRESS) {
      this.refusedForServices += 1;
      throw overloaded("the service has used up its share");
    }
    request.isShared = true;
    this.#count(request, 1);
  }

  release(request: SharedRequest): void {
    if (!request.isShared) return;
    request.isShared = false;
    this.#count(request, -1);
  }

  #count({ principal, route }: SharedRequest, change: 1 | -1): void {
    add(this.#addresses, route.address, change);
    if (principal === null) add(this.#public, route.address, change);
    else add(this.#callers, callerOf(principal), change);
  }
}

function callerOf({ organization_id, user_id }: Principal): string {
  return organization_id ?? user_id ?? "";
}

function held(counts: ReadonlyMap<string, number>, holder: string): number {
  return counts.get(holder) ?? 0;
}

function add(counts: Map<string, number>, holder: string, change: 1 | -1): void {
  const count = held(counts, holder) + change;
  if (count > 0) counts.set(holder, count);
  else counts.delete(holder);
}
