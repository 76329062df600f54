import { describe, expect, test } from "bun:test";
import { ExportPermits } from "@ostiary/audit/exports/permits";
import { ReadingPace } from "@ostiary/audit/exports/stream";
import fc from "fast-check";
import { rejection } from "../../support/index.ts";

describe("the slots of exports", () => {
  const slots = () => new ExportPermits({ exports_max: 4, per_log_max: 2 });

  test("are shared: one log has at most its part, all together at most as many as there are", async () => {
    const shared = slots();
    await shared.take("a");
    await shared.take("a");
    expect(await rejection(shared.take("a"))).toMatchObject({
      status: 429,
      message: "Too many exports of this log are running. Try again in a moment.",
    });
    await shared.take("b");
    const release = await shared.take("c");
    expect(await rejection(shared.take("d"))).toMatchObject({
      status: 429,
      message: "Too many exports are running. Try again in a moment.",
    });
    release();
    await shared.take("d");
  });

  test("are given back once, in any order, and then all are free", async () => {
    const step = fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.nat(5));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const shared = slots();
        const held: { log: string; release: () => void }[] = [];
        for (const [log, which] of steps) {
          const free = held.length < 4 && held.filter((each) => each.log === log).length < 2;
          const taken = await shared.take(log).catch(() => null);
          expect(taken !== null).toBe(free);
          if (taken !== null) held.push({ log, release: taken });
          const [gone] = held.splice(which, 1);
          gone?.release();
          gone?.release();
        }
        for (const { release } of held) release();
        for (const log of ["a", "a", "b", "b"]) await shared.take(log);
      }),
    );
  });

  test("go to as many of a hundred at once as there are", async () => {
    const shared = slots();
    const tries = await Promise.allSettled(
      Array.from({ length: 100 }, (_, n) => shared.take(`log-${n % 50}`)),
    );
    expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(4);
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
