import { edenGC, fullGC, heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { GroupedWriter } from "@ostiary/audit/writes/grouped-writer";
import { manualClock } from "@ostiary/lib/async/manual-clock";
import { UpstreamCalls } from "../../apps/gateway/upstream/call.ts";

const TIMES = 20_000;
const UNDERWAY = 64;
const ROUNDS = 4;
/** Of what was used and let go, so much may be left: the collector takes some of the stack for references. */
const LEFT_MAX = TIMES / 4;

/** What requests leave behind, to be found among all else that lives. */
class Trace {
  readonly list = new Float32Array(1);
}

const traces = () => heapStats().objectTypeCounts.Float32Array ?? 0;

/** Enters things and lets them go in turn, as requests do, while some are always under way. */
async function inTurn(enter: (trace: Trace, nth: number) => () => unknown): Promise<void> {
  const underway: (() => unknown)[] = [];
  for (let nth = 0; nth < TIMES; nth++) {
    underway.push(enter(new Trace(), nth));
    if (underway.length > UNDERWAY) await underway.shift()?.();
  }
  for (const leave of underway) await leave();
}

/** How many of all traces are still there after collections of young objects alone. */
async function leftBy(enter: (trace: Trace, nth: number) => () => unknown): Promise<number> {
  fullGC();
  const before = traces();
  for (let round = 0; round < ROUNDS; round++) {
    await inTurn(enter);
    edenGC();
  }
  return traces() - before;
}

// a set or a map that is old hands on whatever it held to the next full collection
describe("what has ended is gone with the next collection of young objects", () => {
  test("of calls of services", async () => {
    const calls = new UpstreamCalls(manualClock());
    const request = new Request("http://gateway.test/");
    const left = await leftBy((trace) => {
      const call = calls.begin({ request, server: { timeout: () => trace } });
      return () => call.end();
    });
    expect(left).toBeLessThan(LEFT_MAX);
    expect(calls.open).toBe(0);
  });

  test("of writes in groups", async () => {
    const writer = new GroupedWriter<Trace, Trace>((items) => Promise.resolve(items), {
      group_max: 8,
      writes_max: 2,
      queue_max: 1_000,
    });
    const left = await leftBy((trace, nth) => {
      const written = writer.add(`key-${nth}`, trace);
      return () => written;
    });
    expect(left).toBeLessThan(LEFT_MAX);
  });
});
