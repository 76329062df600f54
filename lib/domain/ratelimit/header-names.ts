/** The headers of every response on a limited route (GW-71). */
export const RATE_LIMIT_HEADERS = {
  limit: "X-RateLimit-Limit",
  remaining: "X-RateLimit-Remaining",
  reset: "X-RateLimit-Reset",
} as const;

/** The headers that describe all limits of a limit set (GW-184). */
export const LIMIT_SET_HEADERS = { policies: "RateLimit-Policy", limits: "RateLimit" } as const;
