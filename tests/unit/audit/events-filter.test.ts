import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ulid } from "ulid";
import { type EventFilter, eventBounds } from "../../../apps/audit/events/filter.ts";
import { runs } from "../../support/runs.ts";

const HOUR_MS = 3_600_000;
const FIRST_MS = Date.UTC(2020, 0);
const LAST_MS = Date.UTC(2040, 0);

const filter = (from: Temporal.Instant | null, before: Temporal.Instant | null): EventFilter => ({
  log: { kind: "organization", id: "o" },
  exact: {},
  params: new Map(),
  from,
  before,
});
const instant = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms);
const time = fc.integer({ min: FIRST_MS, max: LAST_MS });
const optionalTime = fc.option(time);

describe("the bounds of a query for events", () => {
  test("contain an event exactly if it matches the filter's times and the cursor", () => {
    fc.assert(
      fc.property(
        ...[
          time,
          fc.integer({ min: -24 * HOUR_MS, max: 24 * HOUR_MS }),
          optionalTime,
          optionalTime,
          optionalTime,
        ],
        (writtenMs, skewMs, fromMs, beforeMs, cursorMs) => {
          const event = { id: ulid(writtenMs), occurred_at: writtenMs + skewMs };
          const cursor = cursorMs === null ? null : ulid(cursorMs);
          const bounds = eventBounds(
            filter(fromMs === null ? null : instant(fromMs), beforeMs === null ? null : instant(beforeMs)),
            cursor,
          );
          const wanted =
            (fromMs === null || event.occurred_at >= fromMs) &&
            (beforeMs === null || event.occurred_at < beforeMs) &&
            (cursor === null || event.id < cursor);
          const occurred_at = new Date(event.occurred_at).toISOString();
          const within =
            bounds !== null &&
            event.id >= bounds.idFrom &&
            event.id < bounds.idBefore &&
            occurred_at >= bounds.occurred_from &&
            occurred_at < bounds.occurred_before;
          expect(within).toBe(wanted);
        },
      ),
      { numRuns: runs(2_000) },
    );
  });

  test("stay within two days of the filter's times, so that a scan starts near the events", () => {
    const from = Date.UTC(2026, 0, 10);
    const before = Date.UTC(2026, 0, 11);
    const bounds = eventBounds(filter(instant(from), instant(before)), null);
    expect((bounds?.idFrom ?? "") > ulid(from - 48 * HOUR_MS)).toBe(true);
    expect((bounds?.idBefore ?? "~") < ulid(before + 48 * HOUR_MS)).toBe(true);
  });

  test("end 25 hours after the cursor's time, so that newer months are not read", () => {
    const bounds = eventBounds(filter(null, null), ulid(Date.UTC(2026, 0, 10)));
    expect(bounds?.occurred_before).toBe("2026-01-11T01:00:00.001Z");
  });

  test("are null when both times lie between the same two milliseconds", () => {
    const [from, before] = ["2026-01-01T00:00:00.0001Z", "2026-01-01T00:00:00.0009Z"];
    expect(eventBounds(filter(Temporal.Instant.from(from), Temporal.Instant.from(before)), null)).toBeNull();
  });

  // AU-38
  test("round a time up to a whole millisecond", () => {
    const odd = Temporal.Instant.from("2026-01-01T00:00:00.000001Z");
    expect(eventBounds(filter(odd, null), null)?.occurred_from).toBe("2026-01-01T00:00:00.001Z");
    expect(eventBounds(filter(null, odd), null)?.occurred_before).toBe("2026-01-01T00:00:00.001Z");
  });

  test.each([
    ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"],
    ["1969-12-31T23:59:59Z", "9999-12-31T23:59:59-23:59"],
  ])("stay within the years 1970 to 9999 for events from %s to %s", (from, before) => {
    const bounds = eventBounds(
      filter(Temporal.Instant.from(from), Temporal.Instant.from(before)),
      "7".padEnd(26, "Z"),
    );
    expect(bounds).toMatchObject({
      occurred_from: "1970-01-01T00:00:00.000Z",
      occurred_before: "9999-12-31T23:59:59.999Z",
      idFrom: "0".repeat(26),
    });
  });
});
