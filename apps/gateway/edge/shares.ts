import { overloaded, rateLimited } from "@ostiary/lib/domain/errors";
import type { Principal } from "../admission/principal.ts";

/**
 * The number of equal shares into which the maximum number of requests in flight is divided. While more than
 * half of that maximum is in flight, the new requests of a holder may fill at most one share.
 */
const SHARES = 8;
const RETRY_AFTER_SECONDS = 1;

/** A request that counts against the share of its caller, or of its service if it has no caller. */
export interface SharedRequest {
  readonly principal: Principal | null;
  readonly route: { readonly service: string };
  /** The holder whose share the request counts against, or null if the request counts against no share. */
  share: string | null;
}

/**
 * Keeps one caller (GW-167), or the public routes of one service (GW-233), from using the whole capacity of a
 * gateway. Requests are counted only while more than half of the capacity is in use, so counting costs nothing
 * under normal load. A caller is a person on user routes, and an organization on organization and member routes.
 */
export class Shares {
  readonly #shareMax: number;
  readonly #callers = new Map<string, number>();
  readonly #services = new Map<string, number>();
  #refused = 0;

  /** @param requestsMax maximum number of requests in flight */
  constructor(requestsMax: number) {
    this.#shareMax = Math.max(1, Math.floor(requestsMax / SHARES));
  }

  /** Number of refused requests since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Counts `request` until it is released. Throws ApiError 429 or 503 if the share is used up. */
  claim(request: SharedRequest): void {
    const { principal } = request;
    const holder = principal === null ? request.route.service : callerOf(principal);
    if (holder === null) return;
    const holders = this.#holdersOf(request);
    const held = holders.get(holder) ?? 0;
    if (held >= this.#shareMax) this.#refuse(principal);
    holders.set(holder, held + 1);
    request.share = holder;
  }

  /** Stops counting a request that has ended. */
  release(request: SharedRequest): void {
    const { share } = request;
    if (share === null) return;
    request.share = null;
    const holders = this.#holdersOf(request);
    const held = (holders.get(share) ?? 0) - 1;
    if (held > 0) holders.set(share, held);
    else holders.delete(share);
  }

  #holdersOf({ principal }: SharedRequest): Map<string, number> {
    return principal === null ? this.#services : this.#callers;
  }

  #refuse(principal: Principal | null): never {
    this.#refused += 1;
    if (principal === null) throw overloaded("the public routes of the service have used up their share");
    const message = "Too many of your requests are in flight. Try again in a moment.";
    throw rateLimited(RETRY_AFTER_SECONDS, { message, endsConnection: true });
  }
}

function callerOf({ organization_id, user_id }: Principal): string | null {
  return organization_id ?? user_id;
}
