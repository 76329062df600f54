import { afterEach, describe, expect, test } from "bun:test";
import { closeSync, openSync, statSync } from "node:fs";
import { processReadings } from "../../../apps/gateway/edge/process-readings.ts";
import { openDescriptors } from "../../nightly/bench/measure/descriptors.ts";

/** Whether the kernel counts the descriptors of a process. Linux does since version 6.2. */
const isCounted = (statSync("/proc/self/fd", { throwIfNoEntry: false })?.size ?? 0) > 0;

describe("descriptors", () => {
  const opened: number[] = [];
  const open = () => {
    const descriptor = openSync("/dev/null", "r");
    opened.push(descriptor);
    return descriptor;
  };

  afterEach(() => {
    for (const descriptor of opened.splice(0)) closeSync(descriptor);
  });

  test("are never reported above the real number", () => {
    for (let round = 0; round < 100; round += 1) {
      open();
      // `openDescriptors` opens one descriptor to list them, so its number may be higher by one.
      expect(processReadings().descriptors()).toBeLessThanOrEqual(openDescriptors(process.pid));
    }
  });

  test.skipIf(!isCounted)("are counted correctly after a lower descriptor is closed", () => {
    const readings = processReadings();
    const before = readings.descriptors();
    const first = open();
    for (let more = 0; more < 200; more += 1) open();
    expect(readings.descriptors()).toBe(before + 201);
    closeSync(first);
    opened.shift();
    expect(readings.descriptors()).toBe(before + 200);
  });
});
