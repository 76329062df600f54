import { incrementBase32, ulid } from "ulid";

/** Returns ids above `last`, the newest id of a feed. They contain the later of `timeMs` and the time in `last`. */
export function followingIds(last: string | null, timeMs: number, count: number): string[] {
  const fresh = ulid(timeMs);
  let next = last === null || fresh > last ? fresh : incrementBase32(last);
  return Array.from({ length: count }, () => {
    const id = next;
    next = incrementBase32(next);
    return id;
  });
}
