const DAY_MS = 24 * 60 * 60 * 1000;
/** The maximum time by which a time in a report may be ahead of this service's clock. */
const AHEAD_MS_MAX = DAY_MS;
/** The maximum age of a time in a report. It is high, because gateways keep counts while this service is unavailable. */
const AGE_MS_MAX = 400 * DAY_MS;

export const NEAR_RULE =
  "must be at most 24 hours ahead of this service's clock, and at most 400 days behind it";

/** Returns whether a report may contain a time (AU-121). */
export function isNear(timeMs: number, nowMs: number): boolean {
  const ageMs = nowMs - timeMs;
  return ageMs >= -AHEAD_MS_MAX && ageMs <= AGE_MS_MAX;
}
