import { describe, expect, test } from "bun:test";
import {
  type Bucket,
  bucketKey,
  bucketPrefix,
  decide,
  periodAt,
  periodNamed,
} from "@ostiary/lib/domain/ratelimit";
import fc from "fast-check";
import { runs } from "../../support/runs.ts";

const LIMIT = { requests: 3, window_seconds: 60 };
const NOW_MS = 1_700_000_000_000;

describe("the decision about a request", () => {
  // GW-69
  test.each([
    [1, true, 2],
    [2, true, 1],
    [3, true, 0],
    [4, false, 0],
    [1000, false, 0],
  ])("on request %d of 3: allowed %p, remaining %d", (count, allowed, remaining) => {
    expect(decide(count, 60_000, LIMIT, NOW_MS)).toEqual({
      allowed,
      limit: 3,
      remaining,
      reset: 1_700_000_060,
      retry_after_seconds: 60,
    });
  });

  // GW-71, GW-72
  test.each([
    [60_000, 1_700_000_060, 60],
    [59_001, 1_700_000_060, 60],
    [1, 1_700_000_001, 1],
    [0, 1_700_000_000, 1],
    [-2, 1_700_000_000, 1],
  ])("with %d ms left: the window ends at %d, retry after %d s", (ttlMs, reset, retry_after_seconds) => {
    expect(decide(4, ttlMs, LIMIT, NOW_MS)).toMatchObject({ reset, retry_after_seconds });
  });

  // GW-71
  test("rounds the end of the window up to a whole second", () => {
    expect(decide(1, 500, LIMIT, NOW_MS + 501).reset).toBe(1_700_000_002);
    expect(decide(1, 499, LIMIT, NOW_MS + 501).reset).toBe(1_700_000_001);
  });
});

describe("bucket keys", () => {
  // GW-67
  test("consist of kind, escaped names and subject", () => {
    const key = (bucket: Bucket) => bucketKey(bucketPrefix(bucket), "S");
    expect(key({ kind: "route", method: "GET", path: "/w/{id}:x%20" })).toBe(
      "route:GET:/w/%7Bid%7D%3Ax%2520:S",
    );
    expect(key({ kind: "local", service: "svc", policy: "a:b" })).toBe("local:svc:a%3Ab:S");
    expect(key({ kind: "shared", policy: "svc:a" })).toBe("shared:svc%3Aa:S");
    expect(key({ kind: "denied" })).toBe("denied:S");
  });

  const word = fc.oneof(
    fc.constantFrom("a", ":", "a:b", "%3A", "%", "", "{a}", "route", "GET:/a"),
    fc.string(),
  );
  const bucket: fc.Arbitrary<Bucket> = fc.oneof(
    fc.record({ kind: fc.constant("route" as const), method: word, path: word }),
    fc.record({ kind: fc.constant("local" as const), service: word, policy: word }),
    fc.record({ kind: fc.constant("shared" as const), policy: word }),
    fc.record({ kind: fc.constant("denied" as const) }),
  );

  // GW-67
  test("are equal only for the same bucket and the same subject", () => {
    fc.assert(
      fc.property(bucket, word, bucket, word, (one, subject, other, otherSubject) => {
        const same = bucketKey(bucketPrefix(one), subject) === bucketKey(bucketPrefix(other), otherSubject);
        expect(same).toBe(Bun.deepEquals(one, other) && subject === otherSubject);
      }),
      { numRuns: runs(5000) },
    );
  });

  // GW-67
  test("have no hash tag, which would put all of them into one slot of a cluster", () => {
    fc.assert(fc.property(bucket, (value) => expect(bucketPrefix(value)).not.toMatch(/[{}]/)));
  });
});

describe("calendar periods", () => {
  // GW-182
  test("are found by their ids", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("day" as const, "month" as const),
        fc.integer({ min: Date.parse("2000-01-01"), max: Date.parse("2100-01-01") - 1 }),
        (kind, timeMs) => {
          const period = periodAt(kind, timeMs);
          expect(periodNamed(period.id)).toEqual(period);
          expect(timeMs).toBeWithin(period.startsMs, period.endsMs);
        },
      ),
    );
  });

  test.each(["", "2026", "2026-1", "2026-13", "2026-00", "2026-02-30", "2026-11-31", "2026-11-23T00", "x"])(
    "%p is not the id of a period",
    (name) => {
      expect(periodNamed(name)).toBeNull();
    },
  );
});
