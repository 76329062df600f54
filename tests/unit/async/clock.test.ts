import { describe, expect, test } from "bun:test";
import { endsWithin, withDeadline } from "@ostiary/lib/async";
import { rejection } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

const late = () => new Error("late");

describe("a deadline", () => {
  test("passes on the result of work that ends in time, and leaves no timer", async () => {
    const clock = manualClock();
    const value = await withDeadline(Promise.resolve("value"), 100, late, clock);
    const reason = await rejection(withDeadline(Promise.reject(new Error("broken")), 100, late, clock));
    expect([value, reason, clock.waiting()]).toEqual(["value", new Error("broken"), []]);
  });

  test("rejects when the time is over, whatever the work returns later", async () => {
    const clock = manualClock();
    const work = Promise.withResolvers<string>();
    const result = withDeadline(work.promise, 100, late, clock);
    clock.advance(99);
    expect(clock.waiting()).toEqual([1]);
    clock.advance(1);
    work.reject(new Error("after all"));
    expect(await rejection(result)).toEqual(late());
  });

  test("reports whether work ended in time, successfully or not", async () => {
    const clock = manualClock();
    const failed = Promise.reject(new Error("broken"));
    const outcomes = [Promise.resolve(), failed, new Promise(() => {})].map((work) =>
      endsWithin(work, 100, clock),
    );
    await Promise.all(outcomes.slice(0, 2));
    clock.advance(100);
    expect(await Promise.all(outcomes)).toEqual([true, true, false]);
  });
});
