import { edenGC, fullGC, heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { GroupedWriter } from "@ostiary/audit/writes/grouped-writer";
import { UpstreamCalls } from "../../apps/gateway/upstream/call.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const TIMES = 20_000;
const UNDERWAY = 64;
const ROUNDS = 4;
/**
 * The maximum number of surviving traces. Some survive, because the collector treats each value on the stack
 * as a possible reference.
 */
const LEFT_MAX = TIMES / 4;

/** An object that a request leaves behind. The tests count its typed array among all live objects. */
class Trace {
  readonly list = new Float32Array(1);
}

const traces = () => heapStats().objectTypeCounts.Float32Array ?? 0;

/** Enters and releases traces like requests, so that about `UNDERWAY` traces are always in flight. */
async function inTurn(enter: (trace: Trace, nth: number) => () => unknown): Promise<void> {
  const underway: (() => unknown)[] = [];
  for (let nth = 0; nth < TIMES; nth++) {
    underway.push(enter(new Trace(), nth));
    if (underway.length > UNDERWAY) await underway.shift()?.();
  }
  for (const leave of underway) await leave();
}

/** Returns the number of traces that survive collections of young objects. */
async function leftBy(enter: (trace: Trace, nth: number) => () => unknown): Promise<number> {
  fullGC();
  const before = traces();
  for (let round = 0; round < ROUNDS; round++) {
    await inTurn(enter);
    edenGC();
  }
  return traces() - before;
}

// An old Set or Map keeps deleted entries until the next full collection, so neither may hold these objects.
describe("a collection of young objects frees", () => {
  test("ended calls of services", async () => {
    const calls = new UpstreamCalls(manualClock());
    const request = new Request("http://gateway.test/");
    const left = await leftBy((trace) => {
      const call = calls.begin({ request, server: { timeout: () => trace } });
      return () => call.end();
    });
    expect(left).toBeLessThan(LEFT_MAX);
    expect(calls.open).toBe(0);
  });

  test("ended writes in groups", async () => {
    const writer = new GroupedWriter<Trace, Trace>((items) => Promise.resolve(items), {
      groupMax: 8,
      writesMax: 2,
      queueMax: 1_000,
    });
    const left = await leftBy((trace, nth) => {
      const written = writer.add(`key-${nth}`, trace);
      return () => written;
    });
    expect(left).toBeLessThan(LEFT_MAX);
  });
});
