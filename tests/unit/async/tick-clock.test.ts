import { expect, test } from "bun:test";
import { tickClock } from "@ostiary/lib/async";
import { manualClock } from "../../support/time/manual-clock.ts";

test("a timer runs once, never early and at most two ticks late", () => {
  const system = manualClock();
  const clock = tickClock(25, system);
  const ran: number[] = [];
  const run = () => ran.push(system.elapsedMs());
  clock.after(500, run);
  system.advance(20);
  clock.after(500, run);
  clock.after(30, run);
  system.advance(10_000);
  expect(ran).toEqual([75, 525, 525]);
});

test("one system timer serves all timers, and ends when no timer is left", () => {
  const system = manualClock();
  const clock = tickClock(25, system);
  const cancels = Array.from({ length: 1_000 }, (_, index) =>
    clock.after(index, () => expect.unreachable("It was cancelled.")),
  );
  expect(system.waiting()).toEqual([25]);
  for (const cancel of cancels) cancel();
  system.advance(25);
  expect(system.waiting()).toEqual([]);
  clock.after(25, () => {});
  expect(system.waiting()).toEqual([25]);
});

test("a timer that cancels another due timer, or throws, does not stop the clock", () => {
  const system = manualClock();
  const clock = tickClock(25, system);
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

test("time in which the process is blocked does not count toward a timer", async () => {
  const clock = tickClock(5);
  const { promise, resolve } = Promise.withResolvers<number>();
  clock.after(50, () => resolve(clock.elapsedMs()));
  Bun.sleepSync(200);
  const freeSinceMs = clock.elapsedMs();
  expect((await promise) - freeSinceMs).toBeGreaterThan(40);
});
