import { beforeEach, describe, expect, test } from "bun:test";
import { ApiError } from "@ostiary/lib/domain/errors";
import { Overload, type OverloadOptions } from "../../../apps/gateway/edge/overload.ts";
import { thrownBy } from "../../support/thrown.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

const MIB = 1_048_576;

const measured = { memory: 0, descriptors: 0, garbage: 0, collections: 0 };
const relief = { ended: 0, closed: 0, close() {} };
const lines: string[] = [];

beforeEach(() => {
  Object.assign(measured, { memory: 100 * MIB, descriptors: 20, garbage: 0, collections: 0 });
  Object.assign(relief, { ended: 0, closed: 0, close() {} });
  lines.length = 0;
});

function overloadOf(options: Partial<OverloadOptions> = {}, descriptorsMax = 2_000) {
  const clock = manualClock();
  const overload = new Overload(
    { requestsMax: 1_000, connectionsMax: 500, memoryBytesMax: 200 * MIB, ...options },
    {
      memoryBytes: () => measured.memory,
      descriptors: () => measured.descriptors,
      collect: () => {
        measured.collections += 1;
        measured.memory -= measured.garbage;
        measured.garbage = 0;
      },
      memoryBytesMax: 400 * MIB,
      descriptorsMax,
    },
    {
      endSlowReaders: () => void relief.ended++,
      closeIdle() {
        relief.closed += 1;
        relief.close();
      },
    },
    {
      info: (_, message) => void lines.push(`info ${message}`),
      warn: (_, message) => void lines.push(`warn ${message}`),
    },
    clock,
  );
  overload.start();
  return {
    overload,
    /** Runs the next check, and waits until the check has set the timer of the following check. */
    async look() {
      await Bun.sleep(0);
      clock.advance(100);
      await Bun.sleep(0);
    },
  };
}

function connections(requests: number, webSockets = 0) {
  return {
    pendingRequests: requests,
    pendingWebSockets: webSockets,
    closed: 0,
    closeIdleConnections() {
      this.closed += 1;
      return 1;
    },
  };
}

const refusalOf = (overload: Overload, requests: number, webSockets = 0) =>
  thrownBy(ApiError, () => overload.admit(connections(requests, webSockets)));

describe("requests in flight", () => {
  // GW-152
  test("are admitted up to the limit, and refused beyond it", () => {
    const { overload } = overloadOf();
    expect(refusalOf(overload, 1_000)).toBeNull();
    expect(refusalOf(overload, 1_001)).toMatchObject({
      status: 503,
      code: "SERVICE_UNAVAILABLE",
      headers: { "Retry-After": "1", Connection: "close" },
    });
    expect(overload.refused).toEqual({ requests: 1, connections: 0, memory: 0 });
  });

  // GW-152
  test("include WebSockets", () => {
    const { overload } = overloadOf();
    expect(refusalOf(overload, 1, 999)).toBeNull();
    expect(refusalOf(overload, 1, 1_000)).not.toBeNull();
    expect(overload.underway).toBe(1_001);
  });
});

describe("memory", () => {
  // GW-154
  test("over the limit: a hundred requests are served, more are refused, and slow readers are disconnected", async () => {
    const { overload, look } = overloadOf();
    measured.memory = 200 * MIB;
    await look();
    expect(refusalOf(overload, 100)).toBeNull();
    expect(refusalOf(overload, 101)).not.toBeNull();
    expect(overload.refused.memory).toBe(1);
    expect(relief.ended).toBeGreaterThan(0);
    measured.memory = 199 * MIB;
    await look();
    expect(refusalOf(overload, 1_000)).toBeNull();
    expect(lines).toEqual([
      "warn MAX_MEMORY_BYTES is reached: the gateway cuts off slow readers and refuses requests",
      "info load is below every maximum again: the gateway no longer refuses requests",
    ]);
  });

  test("that is only garbage causes no refusal, and is collected at most once in two seconds", async () => {
    const { overload, look } = overloadOf();
    Object.assign(measured, { memory: 250 * MIB, garbage: 100 * MIB });
    await look();
    expect(refusalOf(overload, 1_000)).toBeNull();
    expect({ collections: measured.collections, ended: relief.ended }).toEqual({ collections: 1, ended: 0 });
    measured.memory = 250 * MIB;
    for (let looks = 0; looks < 15; looks += 1) await look();
    expect(measured.collections).toBe(1);
    for (let looks = 0; looks < 10; looks += 1) await look();
    expect(measured.collections).toBe(2);
  });

  // GW-154
  test("that a burst uses between two checks is noticed after 128 requests", () => {
    const { overload } = overloadOf();
    measured.memory = 200 * MIB;
    for (let request = 1; request < 128; request += 1) expect(refusalOf(overload, 101)).toBeNull();
    expect(refusalOf(overload, 101)).not.toBeNull();
    expect([overload.refused.memory, relief.ended]).toEqual([1, 1]);
  });

  // GW-154
  test("has a default limit of three quarters of the memory of the process", async () => {
    const { overload, look } = overloadOf({ memoryBytesMax: 0 });
    measured.memory = 299 * MIB;
    await look();
    expect(refusalOf(overload, 1_000)).toBeNull();
    measured.memory = 300 * MIB;
    await look();
    expect(refusalOf(overload, 1_000)).not.toBeNull();
  });
});

describe("connections", () => {
  // GW-153
  test("over the limit: idle connections are closed at each check, and more than a hundred requests are refused", async () => {
    const { overload, look } = overloadOf();
    const held = connections(1);
    overload.admit(held);
    measured.descriptors = 500;
    await look();
    await look();
    expect(held.closed).toBeGreaterThanOrEqual(2);
    expect(relief.closed).toBe(held.closed);
    expect(refusalOf(overload, 101)).not.toBeNull();
    expect(overload.refused.connections).toBe(1);
    measured.descriptors = 499;
    await look();
    expect(refusalOf(overload, 101)).toBeNull();
  });

  // GW-153
  test.each(["to services", "of clients"])(
    "that idle %s alone bring over the limit are closed, and no request is refused",
    async (whose) => {
      const { overload, look } = overloadOf();
      const close = () => {
        measured.descriptors = 499;
      };
      const held = connections(1);
      if (whose === "to services") relief.close = close;
      else
        held.closeIdleConnections = () => {
          close();
          return 1;
        };
      overload.admit(held);
      for (let check = 0; check < 3; check += 1) {
        measured.descriptors = 900;
        await look();
        expect(measured.descriptors).toBe(499);
        expect(refusalOf(overload, 1_000)).toBeNull();
        overload.admit(held);
      }
      expect(lines).toEqual([]);
    },
  );

  // GW-153
  test("have a default limit of three quarters of the descriptors", async () => {
    const { overload, look } = overloadOf({ connectionsMax: 0 }, 1_000);
    measured.descriptors = 749;
    await look();
    expect(refusalOf(overload, 101)).toBeNull();
    measured.descriptors = 750;
    await look();
    expect(refusalOf(overload, 101)).not.toBeNull();
    measured.descriptors = Number.POSITIVE_INFINITY;
    await look();
    expect(refusalOf(overload, 101)).not.toBeNull();
  });

  const looks: [number, number][] = [
    [2_000, 128],
    [748, 31],
    [501, 16],
  ];
  for (const [descriptorsMax, requests] of looks) {
    test(`that a burst opens between two checks are noticed after ${requests} requests, with ${descriptorsMax} descriptors`, () => {
      const { overload } = overloadOf({}, descriptorsMax);
      measured.descriptors = 500;
      const held = connections(1);
      for (let request = 1; request < requests; request += 1) overload.admit(held);
      expect(held.closed).toBe(0);
      overload.admit(held);
      expect(held.closed).toBe(1);
      expect(refusalOf(overload, 101)).not.toBeNull();
    });
  }
});

describe("limits that the process cannot reach", () => {
  const connectionsLogged =
    "warn MAX_CONNECTIONS is above the limit of open files of this process: lower MAX_CONNECTIONS or raise the limit";
  const memoryLogged =
    "warn MAX_MEMORY_BYTES is above the memory of the container or machine: lower MAX_MEMORY_BYTES or add memory";
  const cases: [string, Partial<OverloadOptions>, string[]][] = [
    ["more connections than descriptors", { connectionsMax: 2_001 }, [connectionsLogged]],
    ["more memory than the machine has", { memoryBytesMax: 400 * MIB + 1 }, [memoryLogged]],
    ["default limits", { connectionsMax: 0, memoryBytesMax: 0 }, []],
  ];
  for (const [name, options, logged] of cases) {
    test(`are logged at the start, and reachable limits are not: ${name}`, () => {
      overloadOf(options);
      expect(lines).toEqual(logged);
    });
  }
});
