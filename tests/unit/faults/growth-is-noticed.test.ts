import { describe, expect, test } from "bun:test";
import { growthOf, type Held, HOLDINGS, LOOKS_MIN } from "../../faults/soak/flatness.ts";
import { soakTable, whatGrew } from "../../faults/soak/report.ts";

const MIB = 1_048_576;
const STEADY: Held = { resident_bytes: 200 * MIB, heap_bytes: 40 * MIB, descriptors: 60, timers: 30 };
const LOOKS = 30;

/** Looks at a process of which one thing grows by so much in all. */
const growing = (holding: keyof Held, by: number): Held[] =>
  Array.from({ length: LOOKS }, (_, look) => ({
    ...STEADY,
    [holding]: STEADY[holding] + (by * look) / (LOOKS - 1),
  }));
const grown = (looks: readonly Held[]) =>
  growthOf(looks).flatMap(({ holding, is_flat }) => (is_flat ? [] : [holding]));

describe("what a process holds", () => {
  test("that stays as it is, is flat", () => expect(grown(Array(LOOKS).fill(STEADY))).toEqual([]));

  test.each([
    ["resident_bytes", 200 * MIB],
    ["heap_bytes", 20 * MIB],
    ["descriptors", 60],
    ["timers", 60],
  ] as const)("grows: %s", (holding, by) => {
    const looks = growing(holding, by);
    expect(grown(looks)).toEqual([holding]);
    expect(whatGrew(new Map([["gateway 1", looks]]))).toEqual([expect.stringContaining("gateway 1")]);
  });

  test.each([
    ["resident_bytes", 20 * MIB],
    ["heap_bytes", 4 * MIB],
    ["descriptors", 10],
    ["timers", 10],
  ] as const)("may grow a little: %s", (holding, by) => expect(grown(growing(holding, by))).toEqual([]));

  test("that is much for a moment, is flat", () => {
    const looks: Held[] = Array(LOOKS).fill(STEADY);
    expect(grown(looks.with(4, { ...STEADY, timers: 900 }).with(-3, { ...STEADY, timers: 900 }))).toEqual([]);
  });

  test("is not judged by too few looks", () => {
    expect(growthOf(growing("timers", 900).slice(0, LOOKS_MIN - 1))).toEqual([]);
    expect(growthOf(growing("timers", 900).slice(0, LOOKS_MIN))).toHaveLength(HOLDINGS.length);
  });

  test("is told by its first and its last third, in units for people", () => {
    const table = soakTable(new Map([["gateway 1", growing("timers", 60)]]));
    expect(table).toMatch(/\| gateway 1 \| 30 +\| 200 → 200 +\| 40 → 40 +\| 60 → 60 +\| 39 → 81 +\|/);
  });
});
