import { expect, test } from "bun:test";
import { inSlices, resultInSlices } from "@ostiary/lib/async";
import { manualClock } from "../../support/time/manual-clock.ts";

/** Returns a generator of `count` steps of `stepMs` each, its clock, and a list that records the steps. */
function worked(count: number, stepMs: number) {
  const clock = manualClock();
  const order: string[] = [];
  function* steps() {
    for (let step = 1; step <= count; step++) {
      clock.advance(stepMs);
      order.push(`step ${step}`);
      yield;
    }
  }
  return { clock, order, steps: steps() };
}

test("steps run in slices, and the event loop runs between two slices", async () => {
  const { clock, order, steps } = worked(7, 1);
  const turn = () => {
    order.push("turn");
    if (order.length < 9) setImmediate(turn);
  };
  setImmediate(turn);
  expect(await inSlices(steps, { sliceMs: 3, clock })).toBe(true);
  expect(order.filter((each) => each !== "turn")).toHaveLength(7);
  expect(order.slice(0, 4)).toEqual(["step 1", "step 2", "step 3", "turn"]);
  expect(order.indexOf("step 7")).toBeGreaterThan(order.indexOf("turn", order.indexOf("step 4")));
});

test("stopped steps end after the current slice, and the result is false", async () => {
  const { clock, order, steps } = worked(7, 1);
  expect(await inSlices(steps, { sliceMs: 3, clock, stopping: () => true })).toBe(false);
  expect(order).toEqual(["step 1", "step 2", "step 3"]);
});

test("resultInSlices returns the return value of the steps, or throws their error", async () => {
  function* steps(fails: boolean) {
    yield;
    if (fails) throw new Error("broken");
    return "made";
  }
  expect(await resultInSlices(steps(false), { sliceMs: 3 })).toBe("made");
  await expect(resultInSlices(steps(true), { sliceMs: 3 })).rejects.toThrow("broken");
});
