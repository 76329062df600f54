import { expect, test } from "bun:test";
import { createUnstalledClock } from "@ostiary/lib/async";
import { manualClock } from "../../support/time/manual-clock.ts";

test("a timer runs once, never early and at most a tick late", () => {
  const system = manualClock();
  const clock = createUnstalledClock(system);
  const ran: number[] = [];
  const run = () => ran.push(system.elapsedMs());
  clock.after(500, run);
  system.advance(20);
  clock.after(500, run);
  clock.after(30, run);
  system.advance(10_000);
  expect(ran).toEqual([50, 500, 525]);
});

test("a timer that cancels another due timer, or throws, does not stop the clock", () => {
  const system = manualClock();
  const clock = createUnstalledClock(system);
  const ran: string[] = [];
  let cancelSecond = () => {};
  clock.after(100, () => {
    ran.push("first");
    cancelSecond();
  });
  cancelSecond = clock.after(100, () => ran.push("second"));
  clock.after(100, () => ran.push("third"));
  clock.after(200, () => {
    throw new Error("broken");
  });
  clock.after(300, () => ran.push("last"));
  expect(() => system.advance(1_000)).toThrow("broken");
  system.advance(1_000);
  expect(ran).toEqual(["first", "third", "last"]);
});

test("a stall of the process counts as 50 ms, however long it is", () => {
  const system = manualClock();
  let stalledMs = 0;
  const clock = createUnstalledClock({ ...system, elapsedMs: () => system.elapsedMs() + stalledMs });
  let isDue = false;
  clock.after(300, () => {
    isDue = true;
  });
  system.advance(100);
  stalledMs = 10_000;
  system.advance(125);
  expect([clock.elapsedMs(), isDue]).toEqual([250, false]);
  system.advance(50);
  expect(isDue).toBe(true);
});
