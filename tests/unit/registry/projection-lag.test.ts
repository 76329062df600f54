import { describe, expect, test } from "bun:test";
import { LagAlarm } from "../../../apps/registry/projection/projection-lag.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { type RecordedLine, recordedLog } from "../recorded-log.ts";

function watched() {
  const time = manualClock();
  const { log, lines } = recordedLog();
  const alarm = new LagAlarm(log, time);
  return {
    /** Runs the alarm each second and returns its log lines. `age` returns the oldest projection's age. */
    look(seconds: number, age: (second: number) => number, outstanding = 3): RecordedLine[] {
      lines.length = 0;
      for (let second = 1; second <= seconds; second++) {
        time.advance(1_000);
        alarm.check({ outstanding, age_seconds: age(second) });
      }
      return [...lines];
    },
  };
}

describe("the log of outstanding projections", () => {
  test("has no line while projections are younger than 30 s", () => {
    const { look } = watched();
    expect(look(29, (second) => second)).toEqual([]);
    expect(look(600, () => 29.999)).toEqual([]);
    expect(look(10, () => 0, 0)).toEqual([]);
  });

  // RG-84
  test("has one error a minute after 30 s, and one line when no projection is late anymore", () => {
    const { look } = watched();
    const late = look(300, (second) => second);
    expect(late).toHaveLength(5);
    expect(late[0]).toEqual({
      level: "error",
      message: "gateways may lack the newest routes: 3 projections are outstanding, for up to 30 s",
      fields: { outstanding: 3, age_seconds: 30 },
    });
    expect(late.map((line) => line.fields)).toEqual(
      [30, 90, 150, 210, 270].map((age_seconds) => ({ outstanding: 3, age_seconds })),
    );
    expect(look(100, () => 0, 0)).toEqual([
      { level: "info", message: "projections are no longer late", fields: {} },
    ]);
  });

  test("has at most one error a minute if projections become late and recover repeatedly", () => {
    const { look } = watched();
    const lines = look(600, (second) => (second % 4 < 2 ? 31 : 1));
    expect(lines.filter((line) => line.level === "error").length).toBeLessThanOrEqual(10);
    expect(lines.filter((line) => line.level === "info").length).toBeLessThanOrEqual(10);
  });
});
