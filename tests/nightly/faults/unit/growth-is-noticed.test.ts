import { describe, expect, test } from "bun:test";
import type { Connections } from "../../../support/http/connections.ts";
import { connectionGrowthOf, growthOf, type Held, HOLDING_TITLES, LOOKS_MIN } from "../soak/flatness.ts";
import { connectionTable, soakTable, whatGrew } from "../soak/report.ts";

const MIB = 1_048_576;
const CONNECTIONS: Connections = { PostgreSQL: 11, etcd: 1, clients: 20 };
const STEADY: Held = {
  residentBytes: 200 * MIB,
  heap_bytes: 40 * MIB,
  timers: 30,
  files: 12,
  connections: CONNECTIONS,
};
const LOOKS = 30;

/** Returns linear growth from 0 to `by`, with one value for each reading. */
const steps = (by: number) => Array.from({ length: LOOKS }, (_, look) => (by * look) / (LOOKS - 1));
/** Returns the readings of a process in which one resource grows. */
const growing = (holding: Exclude<keyof Held, "connections">, by: number): Held[] =>
  steps(by).map((step) => ({ ...STEADY, [holding]: STEADY[holding] + step }));
const connecting = (peer: string, by: number): Connections[] =>
  steps(by).map((step) => ({ ...CONNECTIONS, [peer]: Math.round((CONNECTIONS[peer] ?? 0) + step) }));
const grown = (looks: readonly Held[]) =>
  growthOf(looks).flatMap(({ title, isFlat }) => (isFlat ? [] : [title]));
const connected = (looks: readonly Connections[]) =>
  connectionGrowthOf(looks).flatMap(({ title, isFlat }) => (isFlat ? [] : [title]));

describe("the resources of a process", () => {
  test("are flat if they do not change", () => expect(grown(Array(LOOKS).fill(STEADY))).toEqual([]));

  test.each([
    ["residentBytes", 200 * MIB, "memory, MiB"],
    ["heap_bytes", 20 * MIB, "heap, MiB"],
    ["timers", 60, "timers"],
    ["files", 12, "files"],
  ] as const)("are reported if they grow: %s", (holding, by, title) => {
    const looks = growing(holding, by);
    expect(grown(looks)).toEqual([title]);
    expect(whatGrew(new Map([["gateway 1", looks]]))).toEqual([
      expect.stringContaining(`gateway 1: ${title}`),
    ]);
  });

  test.each([
    ["residentBytes", 20 * MIB],
    ["heap_bytes", 4 * MIB],
    ["timers", 10],
    ["files", 4],
  ] as const)("may grow a little: %s", (holding, by) => expect(grown(growing(holding, by))).toEqual([]));

  test("are flat despite short peaks", () => {
    const looks: Held[] = Array(LOOKS).fill(STEADY);
    expect(grown(looks.with(4, { ...STEADY, timers: 900 }).with(-3, { ...STEADY, timers: 900 }))).toEqual([]);
  });

  test("are not judged if there are too few readings", () => {
    expect(growthOf(growing("timers", 900).slice(0, LOOKS_MIN - 1))).toEqual([]);
    expect(growthOf(growing("timers", 900).slice(0, LOOKS_MIN))).toHaveLength(HOLDING_TITLES.length);
  });

  test("are reported for the first and the last third of the readings, in readable units", () => {
    const table = soakTable(new Map([["gateway 1", growing("timers", 60)]]));
    expect(table).toMatch(/\| gateway 1 \| 30 +\| 200 → 200 +\| 40 → 40 +\| 39 → 81 +\| 12 → 12 +\|/);
  });
});

describe("the connections of a process", () => {
  test("are flat if the number for each peer does not change", () =>
    expect(connected(Array(LOOKS).fill(CONNECTIONS))).toEqual([]));

  test.each([
    ["etcd", 6],
    ["PostgreSQL", 12],
    ["clients", 20],
    ["a new peer", 6],
  ])("are reported for the peer whose number grows: %s", (peer, by) => {
    const looks = connecting(peer, by);
    expect(connected(looks)).toEqual([peer]);
    const many = connecting(peer, 200).map((connections) => ({ ...STEADY, connections }));
    expect(whatGrew(new Map([["gateway 1", many]]))).toEqual([
      expect.stringContaining(`gateway 1: connections with ${peer} `),
    ]);
  });

  test.each([
    ["etcd", 2],
    ["PostgreSQL", 3],
    ["clients", 6],
  ])("may grow a little: %s", (peer, by) => expect(connected(connecting(peer, by))).toEqual([]));

  test("may reach the maximum of a pool, and no more", () => {
    const grownTo = (most: number) =>
      connectionGrowthOf(connecting("PostgreSQL", most - 11), new Map([["PostgreSQL", 17]])).filter(
        ({ title, isFlat }) => title === "PostgreSQL" && !isFlat,
      );
    expect(grownTo(17)).toEqual([]);
    expect(grownTo(23)).toHaveLength(1);
  });

  test("may move from one peer to another only as far as each may grow", () => {
    const moving = steps(8).map((step) => ({
      PostgreSQL: 11 - Math.round(step),
      etcd: 1 + Math.round(step),
    }));
    expect(connected(moving)).toEqual(["etcd"]);
  });

  test("are reported for each peer, for the first and the last third of the readings", () => {
    const held = connecting("etcd", 9).map((connections) => ({ ...STEADY, connections }));
    expect(connectionTable(new Map([["gateway 1", held]]))).toMatch(/\| gateway 1 \| etcd +\| 3 → 7 +\|/);
  });
});
