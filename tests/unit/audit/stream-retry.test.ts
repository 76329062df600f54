import { describe, expect, test } from "bun:test";
import { planRetry, RETRY_MS_MAX } from "../../../apps/audit/streams/retry.ts";

const NONE = { status: 500, retryAfterMs: null, callMs: 0 };

// AU-104
describe("a failed delivery", () => {
  test("is retried after a pause that doubles from 1 s to 15 minutes", () => {
    const pauses = Array.from(
      { length: 14 },
      (_, failures) => planRetry({ failures, failing_ms: 0 }, NONE, () => 0.5).pause_ms,
    );
    expect(pauses).toEqual([
      ...[1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000],
      ...Array(4).fill(900_000),
    ]);
  });

  test("is retried after a pause with a jitter of 25 %", () => {
    const pause = (random: number) => planRetry({ failures: 3, failing_ms: 0 }, NONE, () => random).pause_ms;
    expect([pause(0), pause(1)]).toEqual([6_000, 10_000]);
  });

  test("is retried at the time that the receiver asks for, sooner or later than the pause", () => {
    const pause = (retryAfterMs: number) =>
      planRetry({ failures: 9, failing_ms: 0 }, { ...NONE, retryAfterMs }).pause_ms;
    expect([pause(0), pause(3_000), pause(86_400_000)]).toEqual([500, 3_000, 86_400_000]);
  });

  test("is not retried after a 410 response or after 72 hours of attempts", () => {
    const givesUp = (failing_ms: number, status: number | null) =>
      planRetry({ failures: 1, failing_ms }, { ...NONE, status }).givesUp;
    expect([givesUp(0, 410), givesUp(RETRY_MS_MAX, null), givesUp(RETRY_MS_MAX - 1, 500)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("adds only its own duration and the pause after it to the time of attempts", () => {
    const first = planRetry({ failures: 0, failing_ms: 0 }, { ...NONE, callMs: 10_000 }, () => 0.5);
    expect([first.failures, first.failing_ms]).toEqual([1, 11_000]);
  });
});
