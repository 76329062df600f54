import { incrementBase32, ulid } from "ulid";

/**
 * Returns `count` ascending ids above `last`, the newest id of a feed. The ids contain `timeMs` or the time in
 * `last`, whichever is later, because their order is more important than their time.
 */
export function followingIds(last: string | null, timeMs: number, count: number): string[] {
  const fresh = ulid(timeMs);
  let next = last === null || fresh > last ? fresh : incrementBase32(last);
  return Array.from({ length: count }, () => {
    const id = next;
    next = incrementBase32(next);
    return id;
  });
}
