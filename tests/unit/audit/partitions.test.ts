import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { wantedPartitions } from "../../../apps/audit/events/partitions-sql.ts";

// AU-7
describe("the partitions of the event table", () => {
  test("cover last month, this month and the next two months", () => {
    expect(wantedPartitions(Date.UTC(2026, 11, 31, 23, 59, 59, 999))).toEqual([
      { name: "audit_events_2026_11", month: "2026-11" },
      { name: "audit_events_2026_12", month: "2026-12" },
      { name: "audit_events_2027_01", month: "2027-01" },
      { name: "audit_events_2027_02", month: "2027-02" },
    ]);
  });

  test("have no gap, and cover each time from one day ago to 58 days ahead", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(2100, 0) }), (nowMs) => {
        const wanted = wantedPartitions(nowMs);
        const begins = wanted.map(({ month }) => Date.parse(`${month}-01T00:00:00Z`));
        const ends = begins.map((each) => new Date(each).setUTCMonth(new Date(each).getUTCMonth() + 1));
        expect(begins.slice(1)).toEqual(ends.slice(0, -1));
        expect(begins.at(0)).toBeLessThanOrEqual(nowMs - 86_400_000);
        expect(ends.at(-1)).toBeGreaterThan(nowMs + 86_400_000 * 58);
      }),
    );
  });
});
