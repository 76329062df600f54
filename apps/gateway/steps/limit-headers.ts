import { LIMIT_SET_HEADERS, RATE_LIMIT_HEADERS } from "@ostiary/lib/domain/ratelimit";
import type { RateState } from "./limit.ts";

/** Sets the headers that tell the client how many requests are left (GW-71, GW-184). */
export function setRateHeaders(headers: Headers, rate: RateState): void {
  headers.set(RATE_LIMIT_HEADERS.limit, String(rate.limit));
  headers.set(RATE_LIMIT_HEADERS.remaining, String(rate.remaining));
  headers.set(RATE_LIMIT_HEADERS.reset, String(rate.reset));
  if (!("described" in rate)) return;
  headers.set(LIMIT_SET_HEADERS.policies, rate.described.policies);
  headers.set(LIMIT_SET_HEADERS.limits, rate.described.limits);
}
