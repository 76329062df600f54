import { spreadOf } from "../../bench/measure/statistics.ts";
import { markdownTable } from "../../bench/measure/table.ts";

/**
 * The resources that a process holds after a garbage collection: memory, timers, files, and connections with each peer.
 */
export type Held = Readonly<Record<string, number>>;

/**
 * How much the last third of readings may exceed the first third: `share` of the first third, plus `besides`. Any
 * number up to `free` is allowed.
 */
interface Bound {
  readonly share: number;
  readonly besides: number;
  readonly free?: number;
}

const CONNECTIONS: Bound = { share: 0.25, besides: 2 };
const BOUNDS: Readonly<Record<string, Bound>> = {
  "memory, MiB": { share: 0.25, besides: 24 },
  "heap, MiB": { share: 0.1, besides: 4 },
  timers: { share: 0, besides: 20 },
  files: { share: 0, besides: 4 },
  // A process has up to 17 connections to PostgreSQL (guides/kubernetes.md), and opens them when it needs them.
  "connections with PostgreSQL": { ...CONNECTIONS, free: 17 },
  // The clients' `fetch` keeps some idle connections, and has as many in use.
  "connections with clients": { ...CONNECTIONS, free: 128 },
};

type Looks = ReadonlyMap<string, readonly Held[]>;

interface Growth {
  readonly what: string;
  readonly first: number;
  /** The minimum of the last third of readings, because what a fault leaves for seconds is no leak. */
  readonly last: number;
  readonly isFlat: boolean;
}

/** The minimum number of readings for a comparison of the first third with the last third. */
const LOOKS_MIN = 6;

/** Returns the growth of everything that a process holds. Empty if there are too few readings. */
function growthOf(looks: readonly Held[]): Growth[] {
  if (looks.length < LOOKS_MIN) return [];
  const third = Math.floor(looks.length / 3);
  return [...new Set(looks.flatMap(Object.keys))].map((what) => {
    const values = looks.map((held) => held[what] ?? 0);
    const { share, besides, free = 0 } = BOUNDS[what] ?? CONNECTIONS;
    const first = spreadOf(values.slice(0, third)).median;
    const last = Math.min(...values.slice(-third));
    return { what, first, last, isFlat: last <= Math.max(free, first * (1 + share) + besides) };
  });
}

/** Returns a table with a row for everything that a process held in the first and in the last third of the run. */
export function soakTable(looks: Looks): string {
  const rows = [...looks].flatMap(([name, held]) =>
    growthOf(held).map((growth) => [name, growth.what, textOf(growth)]),
  );
  return markdownTable(["Process", "holds", "first → last third"], rows);
}

/** Returns a line for everything that grew beyond its bound. */
export function whatGrew(looks: Looks): string[] {
  return [...looks].flatMap(([name, held]) =>
    growthOf(held).flatMap((growth) => (growth.isFlat ? [] : [`${name}: ${growth.what} ${textOf(growth)}`])),
  );
}

function textOf({ first, last }: Growth): string {
  return `${Math.round(first)} → ${Math.round(last)}`;
}
