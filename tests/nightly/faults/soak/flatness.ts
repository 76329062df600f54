import type { Connections } from "../../../support/http/connections.ts";
import { spreadOf } from "../../bench/measure/statistics.ts";

/** The resources that a process holds after a garbage collection. */
export interface Held {
  readonly residentBytes: number;
  readonly heap_bytes: number;
  readonly timers: number;
  /** The number of open files, without sockets. */
  readonly files: number;
  /** The number of open connections, by peer. */
  readonly connections: Connections;
}

/**
 * How much the last third of readings may exceed the first third: `share` of the first third, plus `besides`.
 */
interface Bound {
  readonly share: number;
  readonly besides: number;
}

const MIB = 1_048_576;
const CONNECTIONS_MAX: Bound = { share: 0.25, besides: 2 };
/** The connections that a process may open to each peer anyway, by peer. */
export type PoolMaxima = ReadonlyMap<string, number>;

/** The connections of the clients' `fetch`: as many idle ones as it keeps, and as many in use. */
export const FETCH_MAX = 128;
/**
 * The pools of every process. A process has up to 17 connections to PostgreSQL (guides/kubernetes.md), and opens them
 * when it needs them.
 */
export const POOLS: PoolMaxima = new Map([
  ["PostgreSQL", 17],
  ["clients", FETCH_MAX],
]);

/** The resources whose growth is checked, with the bound for each. */
const HOLDINGS: readonly { title: string; unit: number; bound: Bound; of: (held: Held) => number }[] = [
  {
    title: "memory, MiB",
    unit: MIB,
    bound: { share: 0.25, besides: 24 * MIB },
    of: ({ residentBytes }) => residentBytes,
  },
  {
    title: "heap, MiB",
    unit: MIB,
    bound: { share: 0.1, besides: 4 * MIB },
    of: ({ heap_bytes }) => heap_bytes,
  },
  { title: "timers", unit: 1, bound: { share: 0, besides: 20 }, of: ({ timers }) => timers },
  { title: "files", unit: 1, bound: { share: 0, besides: 4 }, of: ({ files }) => files },
];

export const HOLDING_TITLES: readonly string[] = HOLDINGS.map(({ title }) => title);

export interface Growth {
  readonly title: string;
  /** The median of the first third of readings, in the title's unit. */
  readonly first: number;
  /** The median of the last third of readings, in the title's unit. For connections, the minimum. */
  readonly last: number;
  readonly isFlat: boolean;
}

/** The minimum number of readings for a comparison of the first third with the last third. */
export const LOOKS_MIN = 6;

/**
 * Returns the growth of each resource of a process. Empty if there are fewer than {@link LOOKS_MIN} readings.
 */
export function growthOf(looks: readonly Held[]): Growth[] {
  return HOLDINGS.flatMap(({ title, unit, bound, of }) => growthIn(title, looks.map(of), bound, unit));
}

/**
 * Returns the growth of the number of connections to each peer. Empty if there are too few readings. It
 * compares the minimum of the last third, because connections that a fault leaves for seconds are no leak.
 *
 * @param pools the numbers that pools may reach, which are no leak
 */
export function connectionGrowthOf(looks: readonly Connections[], pools: PoolMaxima = new Map()): Growth[] {
  const peers = [...new Set(looks.flatMap((connections) => Object.keys(connections)))].sort();
  return peers.flatMap((peer) => {
    const values = looks.map((connections) => connections[peer] ?? 0);
    return growthIn(peer, values, CONNECTIONS_MAX, 1, (last) => Math.min(...last)).map((growth) => ({
      ...growth,
      isFlat: growth.isFlat || growth.last <= (pools.get(peer) ?? 0),
    }));
  });
}

function growthIn(
  title: string,
  values: readonly number[],
  bound: Bound,
  unit: number,
  lastOf = medianOf,
): Growth[] {
  if (values.length < LOOKS_MIN) return [];
  const third = Math.floor(values.length / 3);
  const first = medianOf(values.slice(0, third));
  const last = lastOf(values.slice(-third));
  const isFlat = last <= first * (1 + bound.share) + bound.besides;
  return [{ title, first: Math.round(first / unit), last: Math.round(last / unit), isFlat }];
}

function medianOf(values: readonly number[]): number {
  return spreadOf(values).median;
}
