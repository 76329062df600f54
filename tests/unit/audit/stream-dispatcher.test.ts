import { describe, expect, test } from "bun:test";
import { auditVariables } from "@ostiary/audit/config";
import { checkSealInterval, SEAL_INTERVAL_MS_MAX } from "@ostiary/audit/run";
import { configProblems } from "@ostiary/lib/runtime/config";
import { Dispatcher, type Lane, type Streams, type Turn } from "../../../apps/audit/streams/dispatcher.ts";
import { loadPlatform } from "../../../apps/platform/config.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { waitFor } from "../../support/time/wait-for.ts";

interface Row {
  id: string;
}

type Renew = Streams<Row>["renew"];

/** Returns a dispatcher of streams in these lanes. Each delivery lasts until it is aborted. */
function dispatcherOf(lanes: readonly Lane<Row>[], renew: Renew = async (held) => held) {
  const clock = manualClock();
  const turns: Turn[] = [];
  const streams = {
    lanes,
    renew,
    deliver: async (_: Row, turn: Turn) => {
      turns.push(turn);
      const ended = Promise.withResolvers<void>();
      turn.signal.addEventListener("abort", () => ended.resolve());
      await ended.promise;
    },
  };
  const dispatcher = new Dispatcher(streams, { clock, log: { warn: () => {} } });
  dispatcher.start();
  return { clock, turns, dispatcher };
}

const NO_STREAMS = async () => [];

/**
 * Returns lanes of streams whose receivers never respond: one with as many streams as it has slots free, and one for
 * slow streams. The lane before them, if there is one, has no streams.
 */
function lanesOf(max: number, before: readonly Lane<Row>[] = []): Lane<Row>[] {
  let claimed = 0;
  const claim = async (_: string, limit: number) =>
    Array.from({ length: limit }, () => ({ id: `stream-${claimed++}` }));
  return [...before, { max, claim }, { max: 2, claim: NO_STREAMS }];
}

type Bed = ReturnType<typeof dispatcherOf>;

/** Advances the clock by two seconds, in steps, so that the dispatcher fills its free delivery slots. */
async function settle({ clock }: Bed): Promise<void> {
  for (let round = 0; round < 10; round++) {
    clock.advance(200);
    await Bun.sleep(0);
  }
}

async function stop({ clock, dispatcher }: Pick<Bed, "clock" | "dispatcher">): Promise<void> {
  const stopped = dispatcher.stop();
  let isStopped = false;
  void stopped.then(() => {
    isStopped = true;
  });
  await waitFor(() => {
    clock.advance(1_000);
    return isStopped;
  });
}

// AU-187
describe("streams whose receivers never respond", () => {
  test("keep their delivery slots until they count as slow; then other streams get the slots", async () => {
    const bed = dispatcherOf(lanesOf(4));
    await settle(bed);
    expect(bed.turns).toHaveLength(4);
    for (const turn of bed.turns.slice(0, 3)) turn.yieldSlot();
    await settle(bed);
    expect(bed.turns).toHaveLength(7);
    await stop(bed);
  });

  test.each([
    ["128 delivery slots of a replica, however many streams there are", [], 128],
    ["slots that the lane before does not keep", [{ max: 32, claim: NO_STREAMS }], 96],
  ])("use at most %s", async (_, before: Lane<Row>[], most) => {
    const bed = dispatcherOf(lanesOf(32, before));
    for (let round = 0; round < 8; round++) {
      await settle(bed);
      for (const turn of bed.turns) turn.yieldSlot();
    }
    expect(bed.turns).toHaveLength(most);
    await stop(bed);
  });
});

// AU-105
test("a replica that claims a stream again, because its lease ended, aborts the earlier delivery", async () => {
  const leases: string[] = [];
  const claim = async (lease: string) => {
    if (leases.length === 2) return [];
    leases.push(lease);
    return [{ id: "stream-1" }];
  };
  const renew: Renew = async (held) => held.filter(({ lease }) => lease === leases.at(-1));
  const bed = dispatcherOf([{ max: 2, claim }], renew);
  await settle(bed);
  expect(bed.turns.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  await stop(bed);
});

const STEP_MS = 50;

/**
 * Returns the time from the sealing of an entry to the start of its delivery. Before the sealing, the streams
 * have no entries for `quietMs`.
 */
async function waitAfter(quietMs: number): Promise<number> {
  let isSealed = false;
  const claim = async () => {
    const found = isSealed ? [{ id: "stream-1" }] : [];
    isSealed = false;
    return found;
  };
  const { clock, turns, dispatcher } = dispatcherOf([{ max: 1, claim }]);
  const step = async () => {
    clock.advance(STEP_MS);
    await Bun.sleep(0);
  };
  while (clock.elapsedMs() < quietMs) await step();
  isSealed = true;
  const sealedMs = clock.elapsedMs();
  while (turns.length === 0 && clock.elapsedMs() < sealedMs + 60_000) await step();
  const waitMs = clock.elapsedMs() - sealedMs;
  await stop({ clock, dispatcher });
  return waitMs;
}

// AU-116
test("the delivery of an entry starts within 5 s of its event, even with the longest seal interval", async () => {
  for (let quietMs = 0; quietMs <= 2_500; quietMs += 250)
    expect(SEAL_INTERVAL_MS_MAX + (await waitAfter(quietMs))).toBeLessThanOrEqual(5_000);
});

// AU-116
describe("SEAL_INTERVAL_MS", () => {
  const REFUSED =
    "SEAL_INTERVAL_MS must be at most 3000 with streams (AUDIT_STREAM_KEY_FILE or AUDIT_OPERATOR_STREAM_URL), which send an event within 5 s.";
  const problems = (env: Record<string, string>): string[] => {
    const all = { DATABASE_URL: "pglite://memory", INTERNAL_AUTH_TOKEN: "x".repeat(32), ...env };
    return configProblems(auditVariables, all, checkSealInterval).map(
      ({ variable, message }) => `${variable} ${message}`,
    );
  };
  const OPERATOR = "https://siem.example.com/ostiary";

  test.each([
    ["3000 with streams", { AUDIT_STREAM_KEY_FILE: "/keys", SEAL_INTERVAL_MS: "3000" }],
    ["60000 without streams", { SEAL_INTERVAL_MS: "60000" }],
  ])("may be %s", (_, env) => {
    expect(problems(env)).toEqual([]);
  });

  test.each<Record<string, string>>([
    { AUDIT_STREAM_KEY_FILE: "/keys", SEAL_INTERVAL_MS: "3001" },
    { AUDIT_OPERATOR_STREAM_URL: OPERATOR, SEAL_INTERVAL_MS: "3001" },
  ])("is refused if streams could not deliver within 5 s: %p", (env) => {
    expect(problems(env)).toEqual([REFUSED]);
  });

  test("has the maximum of 3000 on the platform too, where streams are always on", () => {
    expect(() => loadPlatform({ SEAL_INTERVAL_MS: "3001" })).toThrow(REFUSED);
    expect(() => loadPlatform({ SEAL_INTERVAL_MS: "3000" })).not.toThrow();
  });
});
