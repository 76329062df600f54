import { describe, expect, test } from "bun:test";
import { wantedPartitions } from "@ostiary/audit/partitions";
import fc from "fast-check";

describe("the partitions wanted", () => {
  test("are last month's to the one two months ahead", () => {
    expect(wantedPartitions(Date.UTC(2026, 11, 31, 23, 59, 59, 999))).toEqual([
      { name: "audit_events_2026_11", from: "2026-11-01T00:00:00.000Z", to: "2026-12-01T00:00:00.000Z" },
      { name: "audit_events_2026_12", from: "2026-12-01T00:00:00.000Z", to: "2027-01-01T00:00:00.000Z" },
      { name: "audit_events_2027_01", from: "2027-01-01T00:00:00.000Z", to: "2027-02-01T00:00:00.000Z" },
      { name: "audit_events_2027_02", from: "2027-02-01T00:00:00.000Z", to: "2027-03-01T00:00:00.000Z" },
    ]);
  });

  test("follow each other without a gap and hold every time from a day ago to eight weeks ahead", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(2100, 0) }), (now_ms) => {
        const wanted = wantedPartitions(now_ms);
        expect(wanted.slice(1).map(({ from }) => from)).toEqual(wanted.slice(0, -1).map(({ to }) => to));
        const [first, last] = [wanted.at(0), wanted.at(-1)];
        const earliest = new Date(now_ms - 86_400_000).toISOString();
        const latest = new Date(now_ms + 86_400_000 * 58).toISOString();
        expect((first?.from ?? "~") <= earliest).toBe(true);
        expect(latest < (last?.to ?? "")).toBe(true);
      }),
    );
  });
});
