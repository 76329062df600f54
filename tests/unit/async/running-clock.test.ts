import { describe, expect, test } from "bun:test";
import { pause, systemClock } from "@ostiary/lib/async";
import { runningClock } from "../../support/time/running-clock.ts";

describe("the clock of services under test", () => {
  test("passes at most 250 ms while the process does not run, however long that is", async () => {
    const begunMs = runningClock.elapsedMs();
    Bun.sleepSync(600);
    expect(runningClock.elapsedMs() - begunMs).toBeLessThanOrEqual(250);
    await pause(runningClock, 20);
    expect(runningClock.elapsedMs() - begunMs).toBeGreaterThanOrEqual(20);
  });

  test("runs timers in the order of their times, never early, and not after they are cancelled", async () => {
    const ran: number[] = [];
    const begunMs = systemClock.elapsedMs();
    runningClock.after(60, () => ran.push(60));
    const cancel = runningClock.after(40, () => ran.push(40));
    runningClock.after(20, () => {
      ran.push(20);
      cancel();
    });
    await pause(runningClock, 80);
    expect(ran).toEqual([20, 60]);
    expect(systemClock.elapsedMs() - begunMs).toBeGreaterThanOrEqual(80);
  });
});
