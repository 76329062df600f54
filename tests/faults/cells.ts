/**
 * The parts that can fail. `gateway` and `registry` are one of two replicas; every other part fails as a
 * whole.
 */
export const PARTS = [
  "postgres",
  "redis",
  "etcd",
  "identity",
  "audit",
  "upstream",
  "gateway",
  "registry",
  "registries",
] as const;
export type Part = (typeof PARTS)[number];

/** The ways in which every part can fail; `break.ts` says what each does. */
export const FAULTS = ["killed", "frozen", "cut", "black-holed", "slowed", "gone-silent"] as const;
/** The ways in which a clock can fail. */
export const CLOCK_FAULTS = ["set-ahead", "set-back"] as const;
export type Fault = (typeof FAULTS)[number] | (typeof CLOCK_FAULTS)[number];

/** The parts whose clocks can fail. Of `audit` it is the clock of one of the two replicas. */
const PARTS_WITH_CLOCK: readonly Part[] = ["postgres", "audit"];

/** One row of the table: one or two parts that fail in one way at the same time. */
export interface Cell {
  readonly parts: readonly Part[];
  readonly fault: Fault;
}

/** Pairs of parts whose faults meet in one request, or in one outgoing call. */
const PAIRS: readonly (readonly [Part, Part])[] = [
  ["redis", "identity"],
  ["postgres", "etcd"],
  ["audit", "gateway"],
  ["etcd", "registries"],
  ["identity", "audit"],
];
const FAULTS_OF_PAIRS: readonly Fault[] = ["killed", "black-holed"];

const ALONE = PARTS.filter((part) => part !== "registries");

/** Every cell, in the order of the table. */
export const CELLS: readonly Cell[] = [
  ...ALONE.flatMap((part) => FAULTS.map((fault) => ({ parts: [part], fault }))),
  ...PAIRS.flatMap((parts) => FAULTS_OF_PAIRS.map((fault) => ({ parts, fault }))),
  ...PARTS_WITH_CLOCK.flatMap((part) => CLOCK_FAULTS.map((fault) => ({ parts: [part], fault }))),
];

/** One cell of each part, for a quick check. */
export const QUICK_CELLS: readonly Cell[] = ALONE.map((part, index) => ({
  parts: [part],
  fault: FAULTS[index % FAULTS.length] ?? "killed",
}));

/** Returns a name such as `redis+identity/killed`. */
export function nameOf({ parts, fault }: Cell): string {
  return `${parts.join("+")}/${fault}`;
}

/** Returns the cells that `wanted` names: `redis/killed`, or all of `redis`, or all that are `/killed`. */
export function cellsNamed(wanted: string, cells: readonly Cell[] = CELLS): readonly Cell[] {
  return cells.filter((cell) => {
    const name = nameOf(cell);
    return (
      name === wanted || name.startsWith(`${wanted}/`) || (wanted.startsWith("/") && name.endsWith(wanted))
    );
  });
}

/** Whether a clock fails, and the part itself goes on. */
export function isOfClock({ fault }: Cell): boolean {
  return fault === "set-ahead" || fault === "set-back";
}

/** Whether the part gives no answer at all. */
export function isAway({ fault }: Cell): boolean {
  return fault === "killed" || fault === "frozen" || fault === "cut" || fault === "black-holed";
}
