import { describe, expect, test } from "bun:test";
import { ExportSlots } from "@ostiary/audit/events/export-slots";
import { ReadingPace } from "@ostiary/audit/events/reading-pace";
import { ApiError } from "@ostiary/lib/errors";
import fc from "fast-check";

describe("the slots of exports", () => {
  const slots = () => new ExportSlots({ exports_max: 4, per_log_max: 2 });

  test("are shared: one log has at most its part, all together at most as many as there are", () => {
    const shared = slots();
    shared.take("a");
    shared.take("a");
    expect(() => shared.take("a")).toThrow("Too many exports of this log are running.");
    shared.take("b");
    const release = shared.take("c");
    expect(() => shared.take("d")).toThrow("Too many exports are running.");
    release();
    shared.take("d");
  });

  test("are given back once, in any order, and then all are free", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.nat(5)), { maxLength: 60 }),
        (steps) => {
          const shared = slots();
          const held: { log: string; release: () => void }[] = [];
          for (const [log, which] of steps) {
            const own = held.filter((each) => each.log === log).length;
            try {
              held.push({ log, release: shared.take(log) });
              expect(own < 2 && held.length <= 4).toBe(true);
            } catch (error) {
              expect(error).toBeInstanceOf(ApiError);
              expect(own === 2 || held.length === 4).toBe(true);
            }
            const [gone] = held.splice(which, 1);
            gone?.release();
            gone?.release();
          }
          for (const { release } of held) release();
          for (const log of ["a", "a", "b", "b"]) shared.take(log);
        },
      ),
    );
  });
});

describe("the pace of a reader", () => {
  const limits = { bytes_per_second_min: 1_000, lag_ms_max: 30_000 };

  test("at the least pace or above never lags", () => {
    const pace = new ReadingPace(limits);
    for (let n = 0; n < 10_000; n++) pace.took(1_000, 1_000);
    expect(pace.left_ms).toBe(30_000);
  });

  test("at half of it uses up twice the lag that is allowed", () => {
    const pace = new ReadingPace(limits);
    for (let n = 0; n < 59; n++) pace.took(500, 1_000);
    expect(pace.left_ms).toBe(500);
    pace.took(500, 1_000);
    expect(pace.left_ms).toBe(0);
  });

  test("is not credited for what was taken early", () => {
    const pace = new ReadingPace(limits);
    pace.took(1_000_000_000, 0);
    pace.took(0, 29_000);
    expect(pace.left_ms).toBe(1_000);
  });

  test("is caught up by reading faster", () => {
    const pace = new ReadingPace(limits);
    pace.took(0, 20_000);
    pace.took(15_000, 5_000);
    expect(pace.left_ms).toBe(20_000);
  });
});
