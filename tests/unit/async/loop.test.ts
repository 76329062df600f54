import { describe, expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Loop } from "@ostiary/lib/async";
import { waitFor } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

const FOREVER_MS = 1_000_000;
type LoopOptions = ConstructorParameters<typeof Loop>[0];

/** Returns a loop that runs once and then pauses forever, unless `options` say otherwise. */
function loopOf(task: LoopOptions["task"], options: Partial<LoopOptions> = {}): Loop {
  return new Loop({ task, pauseMs: FOREVER_MS, retryMs: FOREVER_MS, onFailure: () => {}, ...options });
}

/** Returns a task and its runs. Each run lasts until the test resolves it. */
function steppedTask() {
  const runs: PromiseWithResolvers<void>[] = [];
  let running = 0;
  return {
    runs,
    async task() {
      running += 1;
      expect(running).toBe(1);
      const run = Promise.withResolvers<void>();
      runs.push(run);
      await run.promise.finally(() => {
        running -= 1;
      });
    },
  };
}

describe("a loop", () => {
  test("without a pause runs only when it is woken, and not before its gap is over", async () => {
    const clock = manualClock();
    let runs = 0;
    const task = async () => {
      runs += 1;
    };
    const loop = loopOf(task, { pauseMs: undefined, gapMs: 10, clock });
    loop.start();
    await waitFor(() => clock.waiting().length === 1);
    expect(clock.waiting()).toEqual([10]);
    loop.wake();
    await nextTurn();
    expect(runs).toBe(1);
    clock.advance(10);
    await waitFor(() => runs === 2);
    await waitFor(() => clock.waiting().length === 1);
    clock.advance(FOREVER_MS);
    await nextTurn();
    expect([runs, clock.waiting()]).toEqual([2, []]);
    loop.wake();
    await waitFor(() => runs === 3);
    await loop.stop();
  });

  test("runs once more after several wakes during a run, and never twice at the same time", async () => {
    const { runs, task } = steppedTask();
    const loop = loopOf(task);
    loop.start();
    await waitFor(() => runs.length === 1);
    for (let n = 0; n < 5; n++) loop.wake();
    runs[0]?.resolve();
    await waitFor(() => runs.length === 2);
    runs[1]?.resolve();
    await loop.stop();
    expect(runs).toHaveLength(2);
  });

  test("doubles the wait after consecutive failures, up to eight times, and resets it after a success", async () => {
    const waits: number[] = [];
    let runs = 0;
    const task = async () => {
      runs += 1;
      if (runs !== 7) throw new Error("not yet");
    };
    const onFailure = (_: unknown, retryInMs: number) => waits.push(retryInMs);
    const loop = loopOf(task, { pauseMs: 1, retryMs: 1, onFailure });
    loop.start();
    await waitFor(() => waits.length >= 8);
    await loop.stop();
    expect(waits.slice(0, 8)).toEqual([1, 2, 4, 8, 8, 8, 1, 2]);
  });

  test("does not retry sooner after a failure when it is woken", async () => {
    const clock = manualClock();
    let runs = 0;
    const task = async () => {
      runs += 1;
      throw new Error("always");
    };
    const loop = loopOf(task, { clock });
    loop.start();
    await waitFor(() => clock.waiting().length === 1);
    loop.wake();
    await nextTurn();
    expect([runs, clock.waiting()]).toEqual([1, [FOREVER_MS]]);
    await loop.stop();
  });

  test("uses its clock for the initial delay and for the pauses", async () => {
    const clock = manualClock();
    let runs = 0;
    const task = async () => {
      runs += 1;
    };
    const loop = loopOf(task, { pauseMs: 500, retryMs: 500, clock });
    loop.start(200);
    await waitFor(() => clock.waiting().length === 1);
    expect([runs, clock.waiting()]).toEqual([0, [200]]);
    clock.advance(200);
    await waitFor(() => clock.waiting().length === 1);
    expect([runs, clock.waiting()]).toEqual([1, [500]]);
    await loop.stop();
    expect([runs, clock.waiting()]).toEqual([1, []]);
  });

  test("tells a run in progress that the loop is stopping", async () => {
    const started = Promise.withResolvers<() => boolean>();
    const ended = Promise.withResolvers<void>();
    const task = (stopping: () => boolean) => {
      started.resolve(stopping);
      return ended.promise;
    };
    const loop = loopOf(task);
    loop.start();
    const stopping = await started.promise;
    expect(stopping()).toBe(false);
    const stop = loop.stop();
    expect(stopping()).toBe(true);
    ended.resolve();
    await stop;
  });
});
