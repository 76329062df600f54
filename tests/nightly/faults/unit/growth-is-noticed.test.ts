import { describe, expect, test } from "bun:test";
import { growthOf, type Held, LOOKS_MIN, whatGrew } from "../soak/flatness.ts";

const STEADY: Held = {
  "memory, MiB": 200,
  "heap, MiB": 40,
  timers: 30,
  files: 12,
  "connections with PostgreSQL": 11,
  "connections with etcd": 1,
};
const LOOKS = 30;

/** Returns the readings of a process that holds more and more of one thing: from its usual number to `by` more. */
const growing = (what: string, by: number): Held[] =>
  Array.from({ length: LOOKS }, (_, look) => ({
    ...STEADY,
    [what]: (STEADY[what] ?? 0) + Math.round((by * look) / (LOOKS - 1)),
  }));
const grown = (looks: readonly Held[]) =>
  growthOf(looks).flatMap(({ what, isFlat }) => (isFlat ? [] : [what]));

describe("what a process holds", () => {
  test.each([
    ["memory, MiB", 200, 60],
    ["heap, MiB", 20, 6],
    ["timers", 60, 10],
    ["files", 12, 4],
    ["connections with PostgreSQL", 18, 7],
    ["connections with etcd", 6, 2],
    ["connections with a new peer", 6, 2],
  ])("is reported if it grows, and may grow a little: %s", (what, much, little) => {
    expect(grown(growing(what, much))).toEqual([what]);
    expect(grown(growing(what, little))).toEqual([]);
    const [line] = whatGrew(new Map([["gateway 1", growing(what, much)]]));
    expect(line).toStartWith(`gateway 1: ${what} `);
  });

  test("is flat despite short peaks", () => {
    const peak = { ...STEADY, timers: 900 };
    const looks: Held[] = Array(LOOKS).fill(STEADY);
    expect(grown(looks.with(4, peak).with(-3, peak))).toEqual([]);
  });

  test("is not judged if there are too few readings", () => {
    expect(growthOf(growing("timers", 900).slice(1 - LOOKS_MIN))).toEqual([]);
  });
});
